# The compiled library under hostile bytes. MINUTES: of processor time for each target; TARGETS: some of them by name.
MINUTES ?= 1
.PHONY: fuzz
fuzz: setup ## hostile bytes for the compiled library, under sanitizers and against plain Python (MINUTES=30 TARGETS="alm http")
	@command -v clang >/dev/null || $(APT) clang libclang-rt-dev
	$(BIN)/python -m tests.native.fuzz --minutes $(MINUTES) $(TARGETS)
