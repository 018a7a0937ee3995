# Thin lines over `python3 -m course_lib VERB`, which does the same where there is no make.
PYTHON ?= python3
COURSE = @$(PYTHON) -m course_lib

.DEFAULT_GOAL := help
.PHONY: help lab workbook test test-all check notebooks widgets format record restamp seeds pages bench mutants slides site warm release collect grade formgrader feedback grades

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1@\2/p' Makefile | awk -F@ '{ printf "%-15s %s\n", $$1, $$2 }'

lab: ## start JupyterLab on the start page of your workbook (on a server: make lab ARGS=--no-browser)
	$(COURSE) lab $(ARGS)

workbook: ## put lessons and exercises into workbook/ to work in; what you have changed there stays as it is
	$(COURSE) workbook

test: ## run every check: ruff, the quick tests, the lessons
	$(COURSE) test $(ARGS)

test-all: ## run every check with every sweep: all pages, all widths, all slides, large classes (an hour and more)
	$(COURSE) test-all $(ARGS)

check: ## run the quick part: ruff and the tests that execute no lesson
	$(COURSE) check $(ARGS)

notebooks: ## execute the lessons and save them in place (one: make notebooks ARGS=01)
	$(COURSE) notebooks $(ARGS)

widgets: ## put today's modules and styles of the widgets into the saved lessons, without executing them (one: ARGS=01)
	$(COURSE) widgets $(ARGS)

format: ## format the library, the tests and the notebooks
	$(COURSE) format

record: ## run the lessons' experiments with all seeds and variants, and record them (one: ARGS=01)
	$(COURSE) record $(ARGS)

restamp: ## renew the hashes of records that a change of code left as they were (make restamp REVISION=HEAD~3)
	$(COURSE) restamp $(REVISION) $(ARGS)

seeds: ## execute the lessons with N fresh seeds, count and keep the verdicts (make seeds N=10)
	$(COURSE) seeds $(N) $(ARGS)

pages: ## write the glossary's index and the claims page anew
	$(COURSE) pages

mutants: ## change the exercises' solutions by rule, and see what the checks say (one: ARGS=03)
	$(COURSE) mutants $(ARGS)

slides: ## make the decks of the lessons in build/slides, which need no network (one: ARGS=01)
	$(COURSE) slides $(ARGS)

site: ## make the site in build/site, which needs no network either
	$(COURSE) site

warm: ## the evening before a lecture: train and keep the models, make the decks (one: ARGS=01)
	$(COURSE) warm $(ARGS)

release: ## make the student versions of the exercises (one: ARGS=03; graded ones: COURSE_SOURCE=FOLDER)
	$(COURSE) release $(ARGS)

collect: ## take submissions out of the ZIP that Moodle or Canvas hands out (make collect ZIP=FILE)
	$(COURSE) collect "$(ZIP)" $(ARGS)

grade: ## grade what is missing or has changed (everything: ARGS=--again; without a sandbox: ARGS=--unsandboxed)
	$(COURSE) grade $(ARGS)

formgrader: ## open nbgrader's formgrader, for manual marks and comments
	$(COURSE) formgrader $(ARGS)

feedback: ## write each learner's feedback as a page; hidden tests are not shown
	$(COURSE) feedback $(ARGS)

grades: ## write the marks as CSV, with the points of each check and the reasons
	$(COURSE) grades $(ARGS)

bench: ## compare the speed of attention and the Transformer with textbook forms and torch's modules (about two minutes)
	$(COURSE) bench
