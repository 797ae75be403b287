import pytest

from app.providers.api_keys import is_placeholder

REAL = [
    "sk-proj-9aZ3_kQwLr7TtY-0bNcVx5mHjGfDsApOiUyE4rWq2LkJhGfDsA1",
    "sk-T3BlbkFJqLwErTyUiOpAsDfGhJkLzXcVbNm1234567890aBcD",
    "0123456789abcdef0123456789abcdef",
    "gsk_Zt7yUwQ1eR5tY8uI0pA3sD6fG9hJ2kL4",
]
TEMPLATES = [
    "your_openai_key_here",
    "your-api-key",
    "YOUR_API_KEY",
    "sk-your-openai-key-here-please",
    "<your key>",
    "<insert-openai-api-key-here>",
    "sk-...",
    "sk-",
    "sk-xxx",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxx",
    "xxxxxxxx-xxxx-xxxx",
    "changeme",
    "change_me_please_now_or_later",
    "REPLACE_WITH_A_REAL_KEY_OF_YOURS",
    "${OPENAI_API_KEY}",
    "my-api-key-goes-in-this-place",
    "placeholder",
    "********************************",
    "sk-…",
    "",
    "   ",
    "two words of a sentence in place of a key",
]


@pytest.mark.parametrize("key", TEMPLATES)
@pytest.mark.parametrize("own_server", [True, False])
def test_d26_a_placeholder_is_told_from_a_key(key: str, own_server: bool) -> None:
    assert is_placeholder(key, own_server=own_server)


@pytest.mark.parametrize("key", REAL)
@pytest.mark.parametrize("own_server", [True, False])
def test_d26_a_real_key_is_taken(key: str, own_server: bool) -> None:
    assert not is_placeholder(key, own_server=own_server)
    assert not is_placeholder(f" {key}\n", own_server=own_server)


@pytest.mark.parametrize("key", ["ollama", "none", "EMPTY", "lm-studio", "local-123", "sk-1"])
def test_d26_a_server_of_ones_own_takes_any_key_and_openai_does_not(key: str) -> None:
    assert not is_placeholder(key, own_server=True)
    assert is_placeholder(key, own_server=False)
