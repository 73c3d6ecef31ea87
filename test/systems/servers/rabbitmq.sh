# SPDX-License-Identifier: Apache-2.0
# A broker as packaged: exchanges, queues of each kind, the management plugin; then it starts again and has
# what it has kept.
start() {
    rabbitmq-server >start.log 2>&1 &
    until rabbitmqctl await_startup >await.log 2>&1; do
        kill -0 $! || { cat start.log await.log; exit 1; }
    done
}
queues() { rabbitmqctl -s -p shop list_queues name type durable messages | sort; }
# What queues have is told a while after it is there.
expect_queues() {
    left=60
    until [ "$(queues)" = "$1" ] || [ $((left -= 1)) = 0 ]; do sleep 1; done
    queues
}
has() { printf '%s\t%s\ttrue\t%s\n' "$@"; }
api() { curl -s -u me:secret -H content-type:application/json "$@" -w '\n'; }

rabbitmq-plugins enable --offline rabbitmq_management
start
rabbitmqctl -q add_vhost shop
rabbitmqctl -q add_user me secret
rabbitmqctl -q set_user_tags me administrator
rabbitmqctl -q set_permissions -p shop me '.*' '.*' '.*'
python3 - <<'END'
import pika

key = pika.PlainCredentials('me', 'secret')
connection = pika.BlockingConnection(pika.ConnectionParameters('localhost', 5672, 'shop', key))
channel = connection.channel()
channel.confirm_delivery()
channel.exchange_declare('e', 'topic', durable=True)
for kind in 'classic', 'quorum', 'stream':
    channel.queue_declare(kind, durable=True, arguments={'x-queue-type': kind})
    channel.queue_bind(kind, 'e', 'key.#')
for i in range(500):
    lasting = pika.BasicProperties(delivery_mode=2)
    channel.basic_publish('e', f'key.{i}', b'%d' % i * 100, lasting, mandatory=True)
for kind in 'classic', 'quorum':
    good = 0
    for i in range(400):
        method, _, body = channel.basic_get(kind)
        good += body == b'%d' % i * 100
        channel.basic_ack(method.delivery_tag)
    print(kind, good)
connection.close()
END
expect_queues "$(has classic classic 100 quorum quorum 100 stream stream 500)"
api -X PUT -d '{"durable":true}' localhost:15672/api/queues/shop/web
api -d '{"properties":{},"routing_key":"web","payload":"hello","payload_encoding":"string"}' \
    localhost:15672/api/exchanges/shop/amq.default/publish
api -d '{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}' localhost:15672/api/queues/shop/web/get
api localhost:15672/api/overview | python3 -c 'import json, sys
seen = json.load(sys.stdin)
print(seen["rabbitmq_version"], sorted(l["protocol"] for l in seen["listeners"]))'
rabbitmq-diagnostics -q check_running
rabbitmqctl stop >stop.log 2>&1
wait
start
expect_queues "$(has classic classic 100 quorum quorum 100 stream stream 500 web classic 0)"
rabbitmqctl stop >stop.log 2>&1
wait
