"""The results as Markdown, for the reference page of docs/evaluation.md."""
import results


def _cell(value):
    return results.cell_text(value).replace("|", "\\|").replace("\n", " ")


def table(rows):
    names = results.columns(rows)
    lines = ["| " + " | ".join(_cell(results.header(name)) for name in names) + " |", "|" + " --- |" * len(names)]
    return lines + ["| " + " | ".join(_cell(row.get(name)) for name in names) + " |" for row in rows]


def _bar(bar):
    value, limit = results.bar_texts(bar)
    return f"- {bar['name']}: {value}, wanted {bar.get('wanted', '<=')} {limit}: " + ("met" if results.bar_met(bar) else "MISSED")


def _measurement(name, record):
    if record is None or record["status"] == "not measured":
        return [f"{name}: not measured: {record['reason'] if record else 'not asked for'}.", ""]
    lines = [f"`{record['command']}`" + (" (emulated link)" if record.get("emulated") else ""), ""]
    if record["status"] == "failed":
        lines += [f"FAILED: {record['reason']}.", ""]
    if "result" not in record:
        return lines
    for report in results.reports(record["result"]):
        for one in report["tables"]:
            if one["rows"]:
                lines += [f"{one.get('title', '')}:", "", *table(one["rows"]), ""]
        lines += [_bar(bar) for bar in report["bars"]] + ([""] if report["bars"] else [])
    return lines


def written(experiments, records, described):
    """All results. A measurement that several experiments share is printed with the first of them."""
    lines = ["## Reference results", ""]
    for name, value in described.items():
        lines.append(f"- {name}: {'; '.join(str(one) for one in value) if isinstance(value, list) else value}")
    revisions = sorted({record["revision"] for record in records.values() if record and record["status"] == "measured"})
    dates = sorted({record["date"][:10] for record in records.values() if record and record["status"] == "measured"})
    lines += [f"- revision: {', '.join(revisions)}", f"- measured: {', '.join(dates)}", ""]
    printed = {}
    for one in experiments:
        lines += [f"### {one.title}" + (f" ({one.emulated})" if one.emulated else ""), ""]
        for made in results.made_tables(one, lambda name: results.reports_of(records.get(name))):
            lines += [f"{made['title']}:", "", *table(made["rows"]), ""]
        for name in one.measurements:
            if name in printed:
                lines += [f"{name}: see {printed[name]}.", ""]
            else:
                printed[name] = one.title
                lines += _measurement(name, records.get(name))
    return "\n".join(lines).rstrip() + "\n"
