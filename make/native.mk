# The compiled core. An editable install makes it; it is made again when its sources change.
$(VENV)/.native: $(shell find src/assay/native -name '*.[ch]') src/assay/native/build.py $(VENV)/.assay
	$(BIN)/python src/assay/native/build.py
	@touch $@
READY += $(VENV)/.native
