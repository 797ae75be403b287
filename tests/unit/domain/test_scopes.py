"""
Scope ids are the agreed ones, and as different as the scopes.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.contacts import Address, address_of
from app.domain.scopes import ScopeMode, conversation, scope_id
from app.errors import InvalidInput

WEIRD = ["2f1c9a0e-7f4b-4a53-9f0e-2b7d6f3f1c11", "a-b", "main", "user:42@telegram", "日本", "x" * 200, "two words"]
parts = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
addresses = st.builds(Address, parts | st.sampled_from(WEIRD), parts | st.sampled_from(WEIRD))


def test_b43_the_ids_of_scopes() -> None:
    address = Address("telegram", "123")
    assert scope_id(ScopeMode.MAIN, None) == "scope:main"
    assert scope_id(ScopeMode.MAIN, address) == "scope:main"
    assert scope_id(ScopeMode.PER_PEER, address, "user-alice") == "scope:peer:user-alice"
    assert scope_id(ScopeMode.PER_PEER, address) == "scope:peer:telegram:123"
    assert scope_id(ScopeMode.PER_CHANNEL_PEER, address, "user-alice") == "scope:channel-peer:telegram:123"
    assert scope_id(ScopeMode.PER_CHANNEL_PEER, None) is None


@pytest.mark.parametrize("weird", WEIRD)
def test_t058_whatever_id_a_chat_has_stands_whole_in_its_scope(weird: str) -> None:
    assert scope_id(ScopeMode.PER_CHANNEL_PEER, Address("telegram", weird)) == f"scope:channel-peer:telegram:{weird}"
    assert address_of(Address("telegram", weird).jid) == Address("telegram", weird)


@given(addresses)
def test_d31_an_address_is_read_as_it_was_written(address: Address) -> None:
    assert address_of(address.jid) == address


@given(addresses, addresses, st.sampled_from([ScopeMode.PER_PEER, ScopeMode.PER_CHANNEL_PEER]))
def test_b42_two_addresses_never_share_an_id(one: Address, other: Address, mode: ScopeMode) -> None:
    assert (scope_id(mode, one) == scope_id(mode, other)) == (one == other)


def test_d35_only_the_first_colon_parts() -> None:
    assert address_of("matrix:@ann:matrix.org") == Address("matrix", "@ann:matrix.org")
    assert Address("matrix", "@ann:matrix.org").jid == "matrix:@ann:matrix.org"
    assert Address("a:b", "c") != Address("a", "b:c")
    assert Address("a:b", "c").jid != Address("a", "b:c").jid


@pytest.mark.parametrize("text", ["", "telegram", ":5", "telegram:", " : ", "telegram: "])
def test_what_is_no_address_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        address_of(text, "alias")
    assert [fault.field for fault in caught.value.fields] == ["alias"]


@pytest.mark.parametrize("mode", [ScopeMode.PER_PEER, ScopeMode.PER_CHANNEL_PEER])
def test_t074_half_a_conversation_is_refused_by_name(mode: ScopeMode) -> None:
    for source, source_id, missing in (("telegram", None, "source_id"), (None, "42", "source")):
        with pytest.raises(InvalidInput) as caught:
            conversation(mode, "s1", source, source_id)
        assert [fault.field for fault in caught.value.fields] == [missing]
    assert conversation(mode, None, "telegram", "42") == Address("telegram", "42")
    assert conversation(mode, None, None, None) is None
    assert conversation(mode, "s1", None, None, required=True) is None
    with pytest.raises(InvalidInput) as caught:
        conversation(mode, None, None, None, required=True)
    assert [fault.field for fault in caught.value.fields] == ["source"]


def test_b40_in_one_pool_nothing_is_missing() -> None:
    assert conversation(ScopeMode.MAIN, None, "telegram", None, required=True) is None
