# The compiled core. An editable install makes it; it is made again when its sources change.
$(VENV)/.native: $(shell find src/assay/native -name '*.[ch]') src/assay/native/build.py $(VENV)/.assay
	$(BIN)/python src/assay/native/build.py
	@touch $@
READY += $(VENV)/.native

.PHONY: native-arm64 bench-native
native-arm64: setup ## the compiled library cross-compiled for arm64, run by qemu, equal to this machine's to the last bit
	@command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null || $(APT) gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
	$(BIN)/python -m tools.native_arm64

bench-native: setup ## a fresh wheel without a compiler: CPU of its first run beside that of its second
	$(BIN)/python -m bench.native
