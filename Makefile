# Two commands on a fresh machine: `make demo` shows the main job, `make test` runs every check.
VENV := .venv
PY := $(VENV)/bin/python
# Four files of tests at a time on two cores, in their order: many wait for a browser, a broker or a clock.
PYTEST := $(PY) -m pytest -n 4 --dist loadfile --no-loadscope-reorder
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
STAMP := $(VENV)/.installed
SYSTEM_LIBS := libgl1 libglib2.0-0 espeak-ng alsa-utils
TEST_LIBS := chromium-headless-shell mosquitto

# Tests start programs by the dozen, and pip compiles nothing here: what they load is compiled once, whatever the
# environment says.
unexport PYTHONDONTWRITEBYTECODE

# Compiling takes one core and three to four minutes: checks, downloads and tests that read no pictures go on beside it.
MAKEFLAGS += --jobs=2
VISION := $(filter-out tests/vision/capture/ %__pycache__/,$(wildcard tests/vision/*/)) $(wildcard tests/vision/test_*.py)
PICTURES := $(VISION) $(shell grep -rl --include='test_*.py' "^pytestmark = .*pytest.mark.pictures" tests)

# Tests keep the memory that they free: to give it back and ask for it again took a twelfth of their time.
unit logic: export MALLOC_MMAP_THRESHOLD_ := 33554432
unit logic: export MALLOC_TRIM_THRESHOLD_ := 268435456

.PHONY: setup install-pi demo test lint types contracts logic unit cv5 pdn arm64 bench score soak lock audit clean
setup: $(STAMP)

$(STAMP): pyproject.toml locks/dev.txt tools/system_libs.sh tools/micropython.sh
	sh tools/system_libs.sh $(SYSTEM_LIBS)
	test -x $(PY) || python3 -m venv $(VENV)
	$(PIP) --no-compile --require-hashes -r locks/dev.txt
	$(PIP) --no-deps --no-build-isolation -e .
	sh tools/micropython.sh $(VENV)/micropython
	touch $@

# Loops over pixels are compiled once, before two workers would compile the same ones side by side.
.PHONY: compiled browser
compiled: setup
	$(PY) -m vision.warm_up

browser: setup
	sh tools/system_libs.sh $(TEST_LIBS)

# KITS: for which the loops over pixels are compiled; none: for all.
install-pi:
	KITS="$(KITS)" sh deploy/install-pi.sh

demo: compiled
	$(VENV)/bin/companion demo --plies 12 --web 127.0.0.1:0

test: unit logic lint types contracts

lint: setup
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .

types: setup
	$(VENV)/bin/mypy

contracts: setup
	$(VENV)/bin/lint-imports

logic: browser
	$(PYTEST) -n 2 -m "not soak and not pictures" $(addprefix --ignore=,$(VISION))

unit: compiled browser
	$(PYTEST) -m "not soak" $(PICTURES)

# The tests of seeing on OpenCV 5 too: a user's machine may have it.
CV5 := .venv-cv5
$(CV5)/cv2: | setup
	$(PIP) --no-deps --target $(CV5) 'opencv-python>=5,<6'

cv5: setup $(CV5)/cv2
	PYTHONPATH=$(CV5) $(PYTEST) tests/vision tests/calibration tests/app

# The Raspberry Pi's architecture, under emulation: as root, on Debian; most of an hour.
arm64: setup
	sh tools/arm64.sh $(PY) .arm64

# py-draughts is under the GPL: beside the program, never part of it.
PY_DRAUGHTS := .venv-py-draughts
$(PY_DRAUGHTS)/draughts: | setup
	$(PIP) --target $(PY_DRAUGHTS) 'py-draughts>=1.10,<2'

pdn: setup $(PY_DRAUGHTS)/draughts
	$(PY) -m tools.pdn_games | PYTHONPATH=$(PY_DRAUGHTS) $(PY) tools/pdn_reader.py

bench: compiled browser $(PY_DRAUGHTS)/draughts
	$(PIP) -e '.[bench]'
	$(PY) -m tools.bench
	PYTHONPATH=$(PY_DRAUGHTS) $(PY) tools/py_draughts.py
	$(PY) -m tools.boards --boards 6
	$(PY) -m tools.two_cameras --boards 6
	$(PY) -m tools.bench_records
	$(PY) -m tools.bench_web
	$(PY) -m tools.bench_panel

score: compiled
	$(PY) -m tools.score
	$(PY) -m tools.photographs --rounds 3

soak: compiled browser
	$(PYTEST) -m soak
	$(PY) -m tools.soak
	$(PY) -m tools.soak_traced
	$(PY) -m tools.soak_readings
	$(PY) -m tools.soak_hands
	$(PY) -m tools.boards
	$(PY) -m tools.two_cameras
	$(PY) -m tools.soak_store
	$(PY) -m tools.soak_hall
	$(PY) -m tools.soak_connections
	$(PY) -m tools.soak_connections --tls
	$(PY) -m tools.soak_page
	$(PY) -m tools.soak_files
	$(PY) -m tools.soak_memory
	$(PY) -m tools.soak_phone
	$(PY) -m tools.bench_pillars
	$(PY) -m tools.pillar_faults

# The newest versions of everything that is installed; `make lock UPGRADE=` keeps those that fit pyproject.toml.
UPGRADE := --upgrade
lock: setup
	sh tools/lock.sh $(PY) $(UPGRADE)

audit: setup
	$(PIP) 'pip-audit>=2.9'
	$(PY) -m tools.audit

clean:
	rm -rf $(VENV) $(CV5) $(PY_DRAUGHTS) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
