"""
What all sections of the configuration have in common: frozen, closed against unknown keys, explained field by field.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=10.0)]


class Section(BaseModel):
    """
    Base of the sections. Each field's docstring is its meaning, with its unit, wherever the configuration is shown.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, use_attribute_docstrings=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_number_from_a_truth_value(cls, value: Any, info: ValidationInfo) -> Any:
        # Python counts True as 1, so that `port: yes` would quietly become port 1.
        if isinstance(value, bool) and info.field_name is not None:
            annotation = cls.model_fields[info.field_name].annotation
            if annotation in (int, float, int | None, float | None):
                raise ValueError("Input should be a number, not true or false")
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _home_directory(cls, value: Any) -> Any:
        # No shell stands between a file or a variable and this program to replace the `~`.
        if not isinstance(value, Path):
            return value
        try:
            return value.expanduser()
        except RuntimeError as error:
            raise ValueError("Input should not begin with the home directory of a user who is not known") from error
