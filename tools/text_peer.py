"""The usual tools for what tools/bench_text.py measures; runs in the peers' environment and imports no Assay."""

import hashlib
import json
import sys
from pathlib import Path


def extraction(folder: Path, out: Path) -> int:
    import trafilatura
    from warcio.archiveiterator import ArchiveIterator

    count = 0
    with out.open("w") as written:
        for file in sorted(folder.glob("*.warc.gz")):
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream):
                    if record.rec_type != "response" or record.http_headers.get_statuscode() != "200":
                        continue
                    if not (record.http_headers.get_header("Content-Type") or "").startswith("text/html"):
                        continue
                    text = trafilatura.extract(record.content_stream().read())
                    if text:
                        url = record.rec_headers.get_header("WARC-Target-URI")
                        written.write(json.dumps({"url": url, "text": text}) + "\n")
                        count += 1
    return count


def removal(folder: Path, ids: Path, out: Path) -> int:
    import pandas as pd

    gone = pd.read_json(ids, lines=True)["id"]
    removed = 0
    for file in sorted((folder / "documents").glob("*.jsonl")):
        rows = pd.read_json(file, lines=True)
        kept = rows[~rows["id"].isin(gone)]
        removed += len(rows) - len(kept)
        kept.to_json(out / file.name, orient="records", lines=True, force_ascii=False)
    return removed


def exact(folder: Path) -> int:
    import pandas as pd

    files = sorted((folder / "documents").glob("*.jsonl"))
    rows = pd.concat([pd.read_json(file, lines=True) for file in files])
    digests = rows["text"].map(lambda text: hashlib.md5(text.encode()).hexdigest())
    return int(digests.duplicated().sum())


def near(folder: Path) -> int:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.8, num_perm=256)
    found = 0
    for file in sorted((folder / "documents").glob("*.jsonl")):
        for line in file.open():
            row = json.loads(line)
            text = " ".join(row["text"].lower().split()).encode()
            sketch = MinHash(num_perm=256)
            sketch.update_batch([text[at : at + 24] for at in range(max(1, len(text) - 23))])
            found += bool(index.query(sketch))
            index.insert(row["id"], sketch)
    return found


if __name__ == "__main__":
    paths = [Path(word) for word in sys.argv[2:]]
    print({"extraction": extraction, "removal": removal, "exact": exact, "near": near}[sys.argv[1]](*paths))
