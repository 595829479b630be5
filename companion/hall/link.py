"""One connection to the broker, which comes back by itself; the only file that knows the MQTT library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from companion.hall.topics import LARGEST_MESSAGE, Broker

KEEPALIVE_S = 5
"""A silent connection is taken to be dead after one and a half times as long, and the last will is said."""

SESSION_S = 24 * 3600
"""So long the broker keeps messages for a hub that is away."""

RECONNECT_S = (1, 8)
"""First and longest wait before connecting again."""

QUEUED = 2000
"""Messages that wait for a slow connection; what does not fit is asked for again."""

LARGEST_PACKET = 2 * LARGEST_MESSAGE
"""Bytes; what is larger the broker keeps for itself."""

AT_LEAST_ONCE = 1


@dataclass(frozen=True, slots=True)
class Will:
    """What the broker says of us when the connection dies."""

    topic: str
    message: bytes


class Link:
    """Says and hears messages.  All callbacks come from the library's thread."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        *,
        topics: Sequence[str],
        connected: Callable[[], None],
        heard: Callable[[str, bytes], None],
        lost: Callable[[str], None] = lambda _why: None,
        will: Will | None = None,
        is_lasting: bool = False,
    ) -> None:
        """A connection that is still to be begun (:meth:`start`).

        Args:
            broker: where.
            name: the client's name at the broker; two of one name push each other out.
            topics: what is listened to.
            connected: told each time the connection stands and is subscribed.
            heard: told of every message: topic and data.
            lost: told why the connection is gone or cannot be had.
            will: what the broker says when it is lost.
            is_lasting: whether the broker keeps messages while we are away.
        """
        self._connected, self._heard, self._lost = connected, heard, lost
        self._topics = topics
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=mqtt.MQTTv5)
        client.on_connect = self._on_connect
        client.on_connect_fail = lambda *_: self._lost(f"no broker answers at {broker.name}")
        client.on_disconnect = lambda _client, _data, _flags, reason, _properties: self._lost(str(reason))
        client.on_message = lambda _client, _data, message: self._heard(message.topic, bytes(message.payload))
        client.reconnect_delay_set(*RECONNECT_S)
        client.max_queued_messages_set(QUEUED)
        if broker.user:
            client.username_pw_set(broker.user, broker.password or None)
        if broker.is_secure:
            client.tls_set()
        if will is not None:
            client.will_set(will.topic, will.message, AT_LEAST_ONCE, retain=True)
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = SESSION_S if is_lasting else 0
        properties.MaximumPacketSize = LARGEST_PACKET
        client.connect_async(broker.host, broker.port, KEEPALIVE_S, clean_start=not is_lasting, properties=properties)
        self._client = client

    def start(self) -> None:
        """Begin to connect; never waits, never fails."""
        self._client.loop_start()

    @property
    def is_up(self) -> bool:
        """Whether the connection stands."""
        return self._client.is_connected()

    def say(self, topic: str, message: bytes, *, retain: bool = False) -> mqtt.MQTTMessageInfo:
        """Send, at least once, while the connection lasts; never waits."""
        return self._client.publish(topic, message, AT_LEAST_ONCE, retain=retain)

    def close(self) -> None:
        """Leave in order; the last will is not said."""
        self._client.disconnect()
        self._client.loop_stop()

    def _on_connect(
        self, client: mqtt.Client, _data: object, _flags: object, reason: ReasonCode, _properties: object
    ) -> None:
        if reason.is_failure:
            self._lost(f"the broker refuses: {reason}")
            return
        for topic in self._topics:
            client.subscribe(topic, AT_LEAST_ONCE)
        self._connected()
