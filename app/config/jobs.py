"""
Settings of background work.
"""

from pydantic import Field

from app.config.section import Section


class JobSettings(Section):
    """Background work."""

    workers: bool = True
    """Whether `lamina serve` works jobs itself; `lamina worker` always does."""
    slots: int = Field(2, ge=1, le=64)
    """Jobs that one worker has in hand at once."""
    poll_s: float = Field(1.0, gt=0.0, le=60.0)
    """Seconds after which an idle worker looks for jobs of other processes."""
    tick_s: float = Field(60.0, ge=1.0, le=86_400.0)
    """Seconds between two looks at what is due by its schedule."""
    catch_up_s: float = Field(3600.0, ge=1.0, le=86_400.0 * 7)
    """Seconds between two looks for work that no job stands for, such as entries from before there was a model."""
    lease_s: float = Field(60.0, ge=1.0, le=3600.0)
    """Seconds after which a job whose worker has fallen silent is taken over."""
    grace_s: float = Field(8.0, ge=0.0, le=600.0)
    """Seconds that jobs in hand get to end on SIGTERM before they are given back."""
    max_attempts: int = Field(5, ge=1, le=100)
    """Attempts after which a job is given up until a person retries it."""
    first_retry_s: float = Field(2.0, ge=0.0, le=3600.0)
    """Seconds after the first failure; each further one doubles them."""
    longest_retry_s: float = Field(300.0, ge=0.0, le=86_400.0)
    """Most seconds between two attempts."""
