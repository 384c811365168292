# Front of the CMake presets. PRESET is release (default), debug, clang, asan or tsan: make test PRESET=asan
PRESET ?= release
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Many tests wait for processes and clocks: two more at once than there are cores.
TEST_JOBS ?= $(shell expr $(JOBS) + 2)
MATRIX ?=
DEMO_ARGS ?=
# What the release preset's tests meet: other instruction sets under qemu-user (also riscv64 and ppc64le), or another
# compiler (clang) or standard library (libcxx).
HAM_TEST_ISAS ?= aarch64 s390x
empty :=
space := $(empty) $(empty)
# A helper of VEO that `make cross ISA=aarch64` has built is tested, too.
FOREIGN_AVEORUN := $(wildcard build/aarch64/libexec/aveorun)
BENCH ?= latency placement rate bandwidth transfers blocks values startup idle scale overlap relay threads stops senders event-loop pool respawn groups graphs traces tcp protocols openmp veo veo-offload kernels mpi
BENCH_ARGS ?=
# Whether what HAM is compared with is built, too; said each time, so that nothing is left in CMake's cache by `make evaluate`.
HAM_PEERS ?= OFF
EVALUATE ?=
EVALUATE_ARGS ?=
# Which parts of the evaluation need the peers: all of them together, or these.
EVALUATE_PEERS = $(if $(strip $(EVALUATE)),$(filter cg peers,$(EVALUATE)),all)
FUZZ_RUNS ?= 100000
FUZZ ?=
PROVE ?=
CROSS ?= all
SEEDS ?= 10000
SOAK ?= 10m
SOAK_ARGS ?=

BUILD := build/$(PRESET)
# Ninja is what the presets name; Make serves where it is not installed.
GENERATOR = $(if $(shell command -v ninja),,-G "Unix Makefiles")

.DEFAULT_GOAL := build
# Packages come before the configuration that looks for them: prerequisites are made in their order. Builds and tests take JOBS.
.NOTPARALLEL:
.PHONY: help deps configure build demo test bench evaluate fuzz simulate soak install package check prove tidy format clean docs test-deps evaluate-parts evaluate-deps cross

help:
	@echo "make [build]        compile with PRESET=$(PRESET)"
	@echo "make demo           conjugate gradient offloaded to one target per core (MATRIX=file.mtx for one of yours)"
	@echo "make test           build and run the tests"
	@echo "make bench          measure (BENCH=\"latency rate\" for some, BENCH_ARGS=... for options)"
	@echo "make evaluate       repeat the papers' evaluations beside today's peers: build/evaluation/report.html (EVALUATE=\"fig9 peers\" for parts)"
	@echo "make fuzz           FUZZ_RUNS=$(FUZZ_RUNS) executions of every fuzzer, or of some (FUZZ=\"engine codecs\")"
	@echo "make simulate       simulated jobs, SEEDS=$(SEEDS) of them; a failure is made small and can be replayed"
	@echo "make soak           all verbs for SOAK=$(SOAK) (90s, 24h) over shm, tcp and mpi, while targets are killed; memory has to stay flat"
	@echo "make cross ISA=...  cross build of everything for aarch64, riscv64, ppc64le or s390x; installs what it takes"
	@echo "make install        install below PREFIX=$(PREFIX)"
	@echo "make package        Debian packages in build/packages (docs/packages.md)"
	@echo "make check          tests, layer check, which units have tests, words, format check"
	@echo "make prove          explore the models of the lock-free parts and of the protocols, and their mutants (PROVE=\"ring lock\" for some)"
	@echo "make docs           the documentation as a site: build/docs/html/index.html"
	@echo "make tidy           clang-tidy over the sources"
	@echo "make format         format all sources in place"
	@echo "make clean          remove build/"

deps:
	@scripts/install-deps.sh

configure: deps
	@cmake --preset $(PRESET) $(GENERATOR) -DCMAKE_INSTALL_PREFIX="$(patsubst ~/%,$(HOME)/%,$(PREFIX))" -DHAM_PEERS=$(HAM_PEERS) \
	  $(if $(filter release,$(PRESET)),"-DHAM_TEST_ISAS=$(subst $(space),;,$(strip $(HAM_TEST_ISAS)))") \
	  $(if $(filter release,$(PRESET)),$(if $(FOREIGN_AVEORUN),"-DHAM_TEST_FOREIGN_AVEORUN=$(abspath $(FOREIGN_AVEORUN))"))

build: configure
	@cmake --build --preset $(PRESET) -j $(JOBS)

demo: configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target conjugate_gradient || \
	  { echo "demo: not built, see the lines above and those of CMake"; exit 1; }
	@$(BUILD)/bin/applications/conjugate_gradient $(if $(MATRIX),--file $(MATRIX)) $(DEMO_ARGS)

test-deps:
	@scripts/install-deps.sh tls
ifeq ($(PRESET),release)
	@scripts/install-deps.sh mpi
	@scripts/install-deps.sh package
	@scripts/install-deps.sh plots
	@scripts/install-deps.sh python
	@scripts/install-deps.sh trace
endif

test: test-deps build
ifeq ($(PRESET),release)
	@HAM_TEST_ISAS="$(HAM_TEST_ISAS)" scripts/install-deps.sh isa
	@tests/isa/isa.sh why $(HAM_TEST_ISAS)
endif
	@ctest --preset $(PRESET) -j $(TEST_JOBS)

bench: build
	@scripts/bench.sh $(BUILD) "$(BENCH)" $(BENCH_ARGS)

# Under 25 minutes on 2 cores. What was measured with the same programs is kept (EVALUATE_ARGS=--again measures it once more).
# A program that cannot be built is reported by the page as not measured.
evaluate-parts:
	@! command -v python3 >/dev/null || python3 benchmarks/evaluate --check $(EVALUATE)

evaluate-deps: evaluate-parts
	@scripts/install-deps.sh evaluate
	$(if $(EVALUATE_PEERS),@scripts/install-deps.sh peers)

ifneq ($(EVALUATE_PEERS),)
evaluate: HAM_PEERS := ON
endif
evaluate: EVALUATE_BEGIN := $(if $(filter evaluate,$(MAKECMDGOALS)),$(shell date +%s))
evaluate: evaluate-deps configure
	@installed=$$(date +%s); \
	cmake --build --preset $(PRESET) -j $(JOBS) --target evaluation -- $(if $(GENERATOR),-k,-k 0) || \
	  echo "evaluate: some programs were not built, see the lines above"; \
	python3 benchmarks/evaluate/gpu.py; \
	exec python3 benchmarks/evaluate --look $(addprefix --since ,$(EVALUATE_BEGIN)) --installed $$installed --built $$(date +%s) --build $(BUILD) \
	  $(EVALUATE_ARGS) $(EVALUATE)

# Needs clang and its runtime libraries; says so and is skipped without them.
fuzz:
	@scripts/install-deps.sh fuzz
	@if scripts/install-deps.sh has-fuzzer; then \
	  cmake --preset fuzz $(GENERATOR) && cmake --build --preset fuzz -j $(JOBS) && \
	  scripts/fuzz.sh build/fuzz $(FUZZ_RUNS) $(FUZZ); \
	else \
	  echo "fuzz: SKIPPED: clang++ cannot link a fuzzer here (Debian: clang libclang-rt-dev)"; \
	fi

# Where the tests of the simulation are built: GCC on x86-64 or AArch64.
simulate: test-deps configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target ham_sim
	@$(BUILD)/tests/sim/ham_sim --seeds $(SEEDS) --jobs $(JOBS) $(SIMULATE_ARGS)

# What it does and what it finds: docs/testing.md. SOAK_ARGS="--json FILE", "shm" for one transport, "--count 1e9" for the fast run.
soak: test-deps configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target ham_soak
	@tests/soak/soak.py --build $(BUILD)/tests/soak/soak.json --time $(SOAK) $(SOAK_ARGS)

# Compiler, emulator and libraries of that instruction set come from Debian's packages, then all is built, or some targets
# (CROSS="aveorun ham-info").
cross:
	@case "$(ISA)" in aarch64|riscv64|ppc64le|s390x) ;; \
	  *) echo "make cross ISA=aarch64 (or riscv64, ppc64le, s390x)"; exit 1 ;; esac
	@scripts/install-deps.sh cross $(ISA)
	@cmake --preset $(ISA) $(GENERATOR)
	@cmake --build --preset $(ISA) -j $(JOBS) --target $(CROSS)

# The loader's cache is refreshed where that is ours to do, so that programs find libham.so at once.
install: build
	@cmake --install $(BUILD) --prefix "$(patsubst ~/%,$(HOME)/%,$(PREFIX))"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

# The folder is also a repository of apt: deb [trusted=yes] file:FOLDER ./
package: deps
	@scripts/install-deps.sh package
	@cmake --preset package $(GENERATOR)
	@cmake --build --preset package -j $(JOBS)
	@rm -rf build/packages
	@cpack -G DEB --config build/package/CPackConfig.cmake -B build/packages
	@rm -rf build/packages/_CPack_Packages
	@cd build/packages && dpkg-scanpackages --multiversion . >Packages

check: test
	@scripts/install-deps.sh check
	@scripts/check-recipes.py
	@scripts/check-pages.py
	@scripts/snippets.py
	@scripts/check-layers.py
	@scripts/check-tests.py
	@scripts/check-words.py
	@scripts/check-format.sh

# Under 10 minutes on 2 cores; docs/testing.md says what it covers.
prove: test-deps configure
	@scripts/install-deps.sh prove
	@cmake --build --preset $(PRESET) -j $(JOBS) --target ham_sim
	@scripts/prove.py --jobs $(JOBS) --simulation $(BUILD)/tests/sim/ham_sim $(PROVE)

# Needs no network once its tools are there; without one of them it says which. Readers need none either.
docs:
	@scripts/install-deps.sh docs
	@if [ -x build/docs-python/bin/python3 ]; then python=build/docs-python/bin/python3; else python=python3; fi; \
	  $$python docs/site/build.py build/docs

tidy: build
	@scripts/install-deps.sh tidy
	@find src tools -name '*.cpp' | xargs clang-tidy -p $(BUILD) --quiet

format:
	@scripts/install-deps.sh check
	@scripts/check-format.sh --fix

clean:
	@rm -rf build
