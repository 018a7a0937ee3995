# `make VERB` is `python3 -m course_lib VERB`, which does the same where there is no make.
PYTHON ?= python3
VERBS = lab workbook test test-all check notebooks widgets format record restamp seeds pages bench mutants slides site \
	warm release collect grade formgrader feedback grades

.PHONY: help $(VERBS)
help:
	@$(PYTHON) -m course_lib

$(VERBS):
	@$(PYTHON) -m course_lib $@ $(REVISION) $(N) $(if $(ZIP),"$(ZIP)") $(ARGS)
