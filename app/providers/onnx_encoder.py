"""
One ONNX session with its tokenizer: a text in, the states of its tokens out.
"""

from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

States = npt.NDArray[np.float32]
"""Shape (tokens, dimensions)."""


class Encoder(Protocol):
    """
    Gives the states of a text's tokens. Used by one thread at a time.
    """

    def states(self, prefix: str, text: str) -> States | None:
        """
        The states of `prefix + text`, one row a token; None when the model knows none of the tokens of `text`.
        """
        ...


class OnnxEncoder:
    """
    Runs one text at a time, unpadded: an int8 model scales its activations over the whole batch, so that the other
    texts of a batch, or padding, would change a text's vector.

    Raises whatever onnxruntime and tokenizers raise when a file is not what they read.
    """

    def __init__(self, model: Path, tokenizer: Path, max_tokens: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = [given.name for given in self._session.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._unknown = self._tokenizer.token_to_id("[UNK]")

    def states(self, prefix: str, text: str) -> States | None:
        encoded = self._tokenizer.encode(prefix + text)
        marks = zip(encoded.ids, encoded.special_tokens_mask, encoded.offsets, strict=True)
        own = (token for token, special, (start, _) in marks if not special and start >= len(prefix))
        if all(token == self._unknown for token in own):
            return None  # every such text would get the same vector, though they have nothing in common
        ids = np.array([encoded.ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states: States = self._session.run(None, {name: feed[name] for name in self._inputs})[0][0]
        return states
