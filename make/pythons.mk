# Other versions of Python that the package says it runs with. Each is a file or a name on PATH:
# make test-pythons PYTHONS="python3.12 /opt/python3.13/bin/python3.13"
PYTHONS ?= python3.12 python3.13

.PHONY: test-pythons
test-pythons: setup ## the fast tests with each of PYTHONS, in environments of their own from the same lock
	for python in $(PYTHONS); do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
		to=.peers/python$$version && \
		$(BIN)/uv venv --quiet --allow-existing --python $$python $$to && \
		$(BIN)/uv pip install --quiet --python $$to/bin/python --compile-bytecode --require-hashes -r requirements/lock.txt && \
		$(BIN)/uv pip install --quiet --python $$to/bin/python --no-deps --editable . && \
		$$to/bin/python -m pytest -n 2 -m "not slow and not serial" $(TEST_PYTHONS) || exit 1; \
	done

# Packages whose fast tests need neither torch, which the lock does not have, nor a browser or servers.
TEST_PYTHONS ?= $(addprefix tests/,analysis api cli compat config document experiments files history pipeline process record \
	session server stages stats)
