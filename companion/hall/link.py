"""A connection to the broker that reconnects automatically; the only file that uses the MQTT library."""

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
"""A silent connection counts as dead after one and a half times this, and the last will is published."""

SESSION_S = 24 * 3600
"""Time for which the broker keeps messages for a hub that is offline."""

RECONNECT_S = (1, 8)
"""First and longest delay before reconnecting."""

QUEUED = 2000
"""Length of the queue for a slow connection; messages that do not fit are requested again."""

LARGEST_PACKET = 2 * LARGEST_MESSAGE
"""Largest packet in bytes; the broker does not deliver larger ones."""

AT_LEAST_ONCE = 1


@dataclass(frozen=True, slots=True)
class Will:
    """The message that the broker publishes when the connection dies."""

    topic: str
    message: bytes


class Link:
    """Sends and receives messages.  All callbacks come from the library's thread."""

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
        """A connection that is not started yet (:meth:`start`).

        Args:
            broker: the broker.
            name: the client's id at the broker; two clients with the same id disconnect each other.
            topics: topics to subscribe to.
            connected: called each time the connection is up and subscribed.
            heard: called with topic and data of every message.
            lost: called with the reason why the connection is lost or fails.
            will: the message that the broker publishes when the connection is lost.
            is_lasting: whether the broker keeps messages while the client is offline.
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
        """Start to connect; never blocks, never fails."""
        self._client.loop_start()

    @property
    def is_up(self) -> bool:
        """Whether the connection is up."""
        return self._client.is_connected()

    def say(self, topic: str, message: bytes, *, retain: bool = False) -> mqtt.MQTTMessageInfo:
        """Publish a message, at least once, while the connection lasts; never blocks."""
        return self._client.publish(topic, message, AT_LEAST_ONCE, retain=retain)

    def close(self) -> None:
        """Disconnect properly; the last will is not published."""
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
