"""
The peers, each filled and asked in the way its own documentation shows. Runs in an environment of its own, which holds
them and none of Lamina: `python stores.py NAME DATA`, where DATA is a file of texts, vectors and questions.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Ask = Callable[[str, Any], list[int]]
AT_ONCE = 500
LIMIT = 10


class Data:
    """
    Texts with their vectors, and questions with theirs and the place of the text that answers.
    """

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as stored:
            self.texts: list[str] = json.loads(str(stored["texts"]))
            self.questions: list[str] = json.loads(str(stored["questions"]))
            self.vectors = stored["vectors"]
            self.question_vectors = stored["question_vectors"]
            self.answers: list[int] = stored["answers"].tolist()

    @property
    def dimensions(self) -> int:
        """
        The length of a vector.
        """
        return int(self.vectors.shape[1])

    def known(self) -> dict[str, Any]:
        """
        The vector of every text and question, for a store that asks for it by text.
        """
        return dict(zip(self.texts + self.questions, [*self.vectors, *self.question_vectors], strict=True))


def chroma(data: Data, directory: str) -> Ask:
    """
    Chroma: vectors in its own index, on disk.
    """
    import chromadb

    records = chromadb.PersistentClient(directory).create_collection("records", metadata={"hnsw:space": "cosine"})
    for start in range(0, len(data.texts), AT_ONCE):
        stop = min(len(data.texts), start + AT_ONCE)
        ids = [str(place) for place in range(start, stop)]
        records.add(ids=ids, documents=data.texts[start:stop], embeddings=data.vectors[start:stop])
    return lambda _, vector: [int(i) for i in records.query(query_embeddings=[vector], n_results=LIMIT)["ids"][0]]


def lancedb(data: Data, directory: str) -> Ask:
    """
    LanceDB: vectors and words, fused by reciprocal ranks.
    """
    import lancedb as lance
    from lancedb.index import FTS
    from lancedb.rerankers import RRFReranker

    rows = [{"n": place, "text": text, "vector": data.vectors[place]} for place, text in enumerate(data.texts)]
    table = lance.connect(directory).create_table("records", rows)
    table.create_index("text", config=FTS())
    fusion = RRFReranker()

    def ask(question: str, vector: Any) -> list[int]:
        search = table.search(query_type="hybrid").vector(vector).text(question).rerank(fusion).limit(LIMIT)
        return [row["n"] for row in search.to_list()]

    return ask


def langgraph(data: Data, directory: str) -> Ask:
    """
    LangGraph's store in memory, which LangMem uses.
    """
    from langgraph.store.base import PutOp
    from langgraph.store.memory import InMemoryStore

    known = data.known()
    index = {
        "dims": data.dimensions,
        "embed": lambda texts: [known[text].tolist() for text in texts],
        "fields": ["text"],
    }
    store = InMemoryStore(index=index)
    for start in range(0, len(data.texts), AT_ONCE):
        places = range(start, min(len(data.texts), start + AT_ONCE))
        store.batch([PutOp(("records",), str(place), {"text": data.texts[place]}) for place in places])
    return lambda question, _: [int(item.key) for item in store.search(("records",), query=question, limit=LIMIT)]


def mem0(data: Data, directory: str) -> Ask:
    """
    mem0 as a library, on its default vector store, without its language model (`infer=False`).
    """
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": directory, "OPENAI_API_KEY": "none"}
    from mem0 import Memory

    known = data.known()

    class Given:
        """The vectors that are known."""

        config = type("Config", (), {"embedding_dims": data.dimensions})()

        def embed(self, text: str, _action: str | None = None) -> list[float]:
            return list(known[text].tolist())

        def embed_batch(self, texts: list[str], _action: str | None = None) -> list[list[float]]:
            return [self.embed(text) for text in texts]

    store = {"path": f"{directory}/vectors", "embedding_model_dims": data.dimensions, "on_disk": True}
    memory = Memory.from_config(
        {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": f"{directory}/history.db"}
    )
    memory.embedding_model = Given()
    for place, text in enumerate(data.texts):
        memory.add(text, user_id="u", infer=False, metadata={"n": place})

    def ask(question: str, _: Any) -> list[int]:
        found = memory.search(question, filters={"user_id": "u"}, top_k=LIMIT)
        return [item["metadata"]["n"] for item in found["results"]]

    return ask


PEERS = {"chroma": chroma, "lancedb": lancedb, "langgraph": langgraph, "mem0": mem0}


def main(name: str, path: str) -> None:
    """
    Fill one peer, ask every question, and print the figures as one line of JSON.
    """
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    data = Data(Path(path))
    with tempfile.TemporaryDirectory(prefix="peer-", ignore_cleanup_errors=True) as directory:
        started = time.perf_counter()
        ask = PEERS[name](data, directory)
        filled = time.perf_counter() - started
        taken, found = [], 0
        for question, vector, answer in zip(data.questions, data.question_vectors, data.answers, strict=True):
            started = time.perf_counter()
            answered = ask(question, vector)
            taken.append((time.perf_counter() - started) * 1000)
            found += answer in answered
        figures = {
            "fill_s": filled,
            "p50": float(np.median(taken)),
            "p95": float(np.percentile(taken, 95)),
            "recall": found / len(data.questions),
        }
        print(json.dumps(figures), flush=True)
        # Some of them keep threads that outlive their work.
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
