# make run    build and start the collector with its page on an embedded store
# make tpch   run TPC-H on DataFusion in a loop, told to the running collector; ARGS="--help" says what else
# make test   install what the tests need, and run them all
# make torture  kill, cut, fill and corrupt the service for an hour or more, and report (docs/reliability.md)
# make bench  measure against the floor and the goals (long)
# make fuzz   give every target of fuzz/ to libFuzzer for SECONDS each (nightly, cargo-fuzz)
# make wheel  build the Python package with the service in it; PROFILE=dev for a quick one
# make lint   formatting, clippy, dependencies

CARGO ?= cargo
PYTHON ?= python3
VENV := target/e2e-venv
PYTHON_VENV := target/python-venv

.PHONY: run tpch test unit ui-test e2e python-test wheel bench-quick bench torture-quick torture fuzz lint schemas test-packages

run:
	$(CARGO) run --release --locked -p queryscope

tpch:
	$(CARGO) run --profile tpch --locked -p queryscope-datafusion --example tpch -- $(ARGS)

test: test-packages unit ui-test e2e python-test bench-quick torture-quick

# Everything that is Rust, in one profile: cargo-nextest where there is one, for its speed.
unit:
	$(CARGO) build --locked --workspace --all-targets
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) nextest run --locked --workspace --no-fail-fast && $(CARGO) test --locked --workspace --doc; \
	else \
		$(CARGO) test --locked --workspace --no-fail-fast; \
	fi

# The dashboard: types, units, then every page in Chromium against the real binary.
ui-test: ui/node_modules/.package-lock.json
	$(CARGO) build --locked -p queryscope -p queryscope-bench
	cd ui && npm run check && npm test && npm run e2e

ui/node_modules/.package-lock.json: ui/package-lock.json
	cd ui && npm ci --no-audit --no-fund

# A real sender (Polars from PyPI), requests made from the API's document (schemathesis), and what deploy/ holds, against
# the real binary.
e2e: $(VENV)/installed ui/node_modules/.package-lock.json
	$(CARGO) build --locked -p queryscope
	$(VENV)/bin/python tests/e2e/polars_sender.py --binary target/debug/queryscope
	$(VENV)/bin/python tests/e2e/schemathesis_run.py --binary target/debug/queryscope
	$(VENV)/bin/python tests/e2e/deploy_check.py --binary target/debug/queryscope

$(VENV)/installed: tests/e2e/requirements.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/e2e/requirements.txt
	touch $@

PROFILE ?= release
WHEELS := target/wheels
TARGET_FOLDER = $(if $(filter dev,$(PROFILE)),debug,$(PROFILE))

# The Python package, with the service's binary in it.
wheel: $(VENV)/installed
	$(CARGO) build --profile $(PROFILE) --locked -p queryscope
	mkdir -p python/queryscope.data/scripts
	strip -o python/queryscope.data/scripts/queryscope target/$(TARGET_FOLDER)/queryscope
	$(VENV)/bin/maturin build --quiet --locked --profile $(PROFILE) --manifest-path python/Cargo.toml --out $(WHEELS)

# The package as a user gets it: the wheel in an environment of its own, with real engines and the real service.
python-test: $(VENV)/installed
	rm -rf $(WHEELS)
	$(MAKE) wheel PROFILE=dev
	$(PYTHON) -m venv --clear $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(WHEELS)/*.whl \
		-r python/tests/requirements.txt
	cd python && ../$(PYTHON_VENV)/bin/python -m mypy
	cd python/tests && ../../$(PYTHON_VENV)/bin/python -m pytest -q --import-mode=importlib -p no:cacheprovider . \
		--doctest-modules --pyargs queryscope
	$(PYTHON_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r python/tests/requirements-duckdb-1.txt
	cd python/tests && ../../$(PYTHON_VENV)/bin/python -m pytest -q --import-mode=importlib -p no:cacheprovider \
		test_duckdb.py test_versions.py

# A short run of every workload: proves that the bench works, measures nothing.
bench-quick:
	$(CARGO) build --locked -p queryscope -p queryscope-bench
	target/debug/queryscope-bench suite --quick --reads 2000 --binary target/debug/queryscope \
		--results target/bench/quick.json

bench:
	$(CARGO) build --release --locked -p queryscope -p queryscope-bench
	target/release/queryscope-bench suite --reads 1000000 --binary target/release/queryscope

# A few rounds of everything that can happen to the service.
torture-quick:
	$(CARGO) build --locked -p queryscope -p queryscope-torture
	target/debug/queryscope-torture --binary target/debug/queryscope

torture:
	$(CARGO) build --release --locked -p queryscope -p queryscope-torture
	target/release/queryscope-torture --long --binary target/release/queryscope --report target/torture/report.md

SECONDS ?= 60
fuzz:
	for target in $$(cd fuzz && ls corpus); do \
		(cd fuzz && $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=3000) \
			|| exit 1; \
	done

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings
	@$(CARGO) deny --version >/dev/null 2>&1 \
		|| { echo "cargo-deny is not installed: cargo install --locked cargo-deny"; exit 1; }
	$(CARGO) deny --locked check bans licenses sources
	@if $(CARGO) deny --locked fetch db; then $(CARGO) deny --locked check advisories; \
	else echo "NOT CHECKED: advisories, their database cannot be fetched here"; fi

# Writes the documents that tests compare with what the code generates.
schemas:
	UPDATE_SCHEMAS=1 $(CARGO) test --locked -p queryscope-collector --test it openapi
	UPDATE_SCHEMAS=1 $(CARGO) test --locked -p queryscope-insights --test it vocabulary

# What the tests need beside Rust: Python with venv and pip, Node.js with npm, PostgreSQL, Chromium, curl.
test-packages:
	@$(PYTHON) -c 'import venv, ensurepip' >/dev/null 2>&1 || scripts/install-packages python3 python3-venv
	@command -v cc >/dev/null 2>&1 || scripts/install-packages gcc libc6-dev
	@command -v strace >/dev/null 2>&1 || scripts/install-packages strace
	@command -v curl >/dev/null 2>&1 || scripts/install-packages curl
	@command -v npm >/dev/null 2>&1 || scripts/install-packages nodejs npm
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 \
		|| scripts/install-packages postgresql
	@test -x /usr/bin/chromium || test -n "$$CHROMIUM" || scripts/install-packages chromium
