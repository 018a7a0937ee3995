# `make VERB` runs `python3 -m course_lib VERB`. Without make, run that yourself.
PYTHON ?= python3
PATH ?= /usr/local/bin:/usr/bin:/bin
export PATH
VERBS = lab workbook model test test-all check notebooks widgets format record restamp seeds freeze confirm pages bench mutants \
	slides site translate book warm wheel release collect grade formgrader feedback grades

.PHONY: help $(VERBS)
help:
	@$(PYTHON) -m course_lib

$(VERBS):
	@$(PYTHON) -m course_lib $@ $(REVISION) $(N) $(if $(ZIP),"$(ZIP)") $(ARGS)
