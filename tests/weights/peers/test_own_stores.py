from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from assay.benchmarks.weight_scenarios.scenario_data import scenario_data
from assay.benchmarks.weight_scenarios.version_chain import VersionChain, run_chain
from assay.benchmarks.weights import stores
from assay.benchmarks.weights.stores import list_installed_stores, store_kind
from assay.errors import AssayError
from assay.weights.peers import own_store

STORE = """
import pickle
from pathlib import Path
from assay.weights import StoreStats

class Pickles:
    def __init__(self, path):
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.staged = {}

    def save(self, name, tensor):
        self.staged[name] = tensor

    def commit(self, tensors=None, message=""):
        ref = str(len(list(self.path.iterdir())))
        (self.path / ref).write_bytes(pickle.dumps({**self.staged, **(tensors or {})}))
        self.staged = {}
        return ref

    def load(self, ref, names=None):
        found = pickle.loads((self.path / ref).read_bytes())
        return {name: found[name] for name in names or found}

    def stats(self):
        return StoreStats(0, 0, 0, 0, 0, 0, 0)

def made(path):
    return Pickles(path)

class Half:
    def save(self, name, tensor): ...

class Broken(Pickles):
    def __init__(self, path):
        raise OSError("no key for the vault")

number = 5
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_stores.py").write_text(STORE)
    (tmp_path / "bad_stores.py").write_text("import nothing_of_that_name\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("my_stores", "bad_stores"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize("path", ["my_stores:Pickles", "my_stores.Pickles", "my_stores:made"])
def test_a_store_by_its_dotted_path_is_measured_like_any(here: Path, path: str) -> None:
    run = run_chain(path, VersionChain(scenario_data("similar", "float32", 20_000, 2)), here / "store")
    assert run.wrong == ()
    assert run.store == path
    assert run.stored_bytes > run.logical_bytes


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my_stores:Half", "my_stores:Half is no store: it has no load, commit, stats"),
        ("my_stores:number", "my_stores:number is no store: it is neither a class nor a function"),
        ("my_stores:Absent", "store my_stores:Absent: nothing is at that path"),
        ("no_such_module:Store", "store no_such_module:Store: nothing is at that path"),
        ("bad_stores:Store", "its module needs 'nothing_of_that_name', which is not installed"),
        ("my_stores:Broken", "store my_stores:Broken cannot be opened: OSError: no key for the vault"),
        ("balancd", "unknown store 'balancd'"),
    ],
)
def test_what_is_no_store_is_one_message(here: Path, name: str, said: str) -> None:
    with pytest.raises(AssayError) as raised:
        store_kind(name).open(here / "store")
    assert said in str(raised.value)


def test_a_package_offers_stores_by_entry_points(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = [
        EntryPoint("vault", "my_stores:Pickles", own_store.GROUP),
        EntryPoint("bad", "bad_stores:S", own_store.GROUP),
    ]
    monkeypatch.setattr(own_store, "entry_points", lambda group: offered)
    sys.path.insert(0, str(here))
    assert store_kind("vault").open(here / "s").commit({}) == "0"
    with pytest.warns(UserWarning, match=r"store bad \(bad_stores:S\) does not load: ModuleNotFoundError"):
        assert list_installed_stores()[-1] == "vault"
    assert stores.store_kind("vault").lossy is False
