#!/usr/bin/env python3
"""A recorded graph: results go from target to target, and a loop runs there until it has converged."""
# expect: the sum of squares of 4 numbers: 30
# expect: and of 1000: 333833500
# expect: the root of 2: 1.414213562
# expect: stage 1 \(example.root\) on node 1 says: .*no root of -1.*
import ham


@ham.offer("example.numbers", "i4->vec<f8>")
def numbers(count):
    return range(1, count + 1)


@ham.offer("example.squares", "vec<f8>->vec<f8>")
def squares(values):
    return [value * value for value in values]


@ham.offer("example.total", "vec<f8>->f8")
def total(values):
    return sum(values)


@ham.offer("example.better", "f8,f8->f8")
def better(root, of):
    return (root + of / root) / 2


@ham.offer("example.found", "f8,f8->bool")
def found(root, of):
    return abs(root * root - of) < 1e-12


@ham.offer("example.root", "f8->f8")
def root(of):
    if of < 0:
        raise ValueError(f"no root of {of:g}")
    return of**0.5


def main():
    with ham.Targets("shm:2", scripts=[__file__]) as (one, two):
        g = ham.Graph()
        a = g.call(one, "example.numbers", g.input(int))
        b = g.call(two, "example.squares", a)  # the vector goes from one target to the other
        step = g.compile(g.call(two, "example.total", b))
        print("the sum of squares of 4 numbers:", round(step(4).result()))
        print("and of 1000:", round(step(1000).result()))

        g = ham.Graph()
        of = g.input(float)
        last = g.repeat(
            lambda guess: g.call(one, "example.better", guess, of),
            until=lambda guess: g.call(two, "example.found", guess, of),
            initial=1.0,
        )
        print("the root of 2:", round(g.compile(last)(2).result(), 9))

        g = ham.Graph()
        step = g.compile(g.call(one, "example.root", g.input(float)))
        try:
            step(-1).result()
        except ham.StageError as error:
            print(f"stage {error.stage} ({error.name}) on node {error.node} says:", str(error.__cause__).splitlines()[-1])


if __name__ == "__main__":
    main()
