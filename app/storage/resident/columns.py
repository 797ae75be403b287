"""
Arrays that grow by appending, as cheap as a list and as compact as an array.
"""

from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

S = TypeVar("S", bound=np.generic)

FIRST_ROOM = 64


class Growing(Generic[S]):
    """
    A one- or two-dimensional array whose first dimension grows; room doubles when it is used up.
    """

    def __init__(self, dtype: type[S], width: int | None = None) -> None:
        shape = (FIRST_ROOM,) if width is None else (FIRST_ROOM, width)
        self._room: npt.NDArray[S] = np.zeros(shape, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> npt.NDArray[S]:
        """
        The rows in use, without a copy.
        """
        return self._room[: self._size]

    @property
    def nbytes(self) -> int:
        """
        Bytes taken, the spare room included.
        """
        return self._room.nbytes

    def append(self, values: npt.ArrayLike) -> None:
        """
        Add rows at the end.
        """
        added = np.asarray(values, self._room.dtype)
        size = self._size + len(added)
        if size > len(self._room):
            room: npt.NDArray[Any] = np.zeros((max(size, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.view
            self._room = room
        self._room[self._size : size] = added
        self._size = size
