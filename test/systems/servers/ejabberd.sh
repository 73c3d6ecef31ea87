# SPDX-License-Identifier: Apache-2.0
# A chat server as packaged: two users talk, one gets a message while away; then it is restarted
# and started again, and has what it has kept.
echo "ERL=$(command -v erl)" >>/etc/ejabberd/ejabberdctl.cfg
users() {
    ejabberdctl registered_users localhost
    ejabberdctl get_offline_count bob localhost
    ejabberdctl stats registeredusers
}
# Waits until the log says for the n-th time that it has started.
started_again() {
    tail -n +1 -F /var/log/ejabberd/ejabberd.log 2>/dev/null |
        grep -m "$1" -c 'is started in the node'
}

ejabberdctl start
ejabberdctl started
ejabberdctl register ann localhost secret
ejabberdctl register bob localhost secret
ejabberdctl register ann localhost secret
python3 - <<'END'
import asyncio
import ssl

import slixmpp


class Client(slixmpp.ClientXMPP):
    def __init__(self, name, answers):
        super().__init__(f'{name}@localhost/here', 'secret')
        self.ssl_context.check_hostname = False
        self.ssl_context.verify_mode = ssl.CERT_NONE
        self.name, self.answers, self.there, self.answered = name, answers, asyncio.Event(), asyncio.Event()
        self.add_event_handler('session_start', self.begin)
        self.add_event_handler('message', self.message)
        self.connect('127.0.0.1', 5222)

    async def begin(self, _):
        self.send_presence()
        await self.get_roster()
        self.there.set()

    def message(self, message):
        print(self.name, 'hears', message['body'], 'from', message['from'].bare)
        self.answered.set()
        if self.answers:
            self.send_message(message['from'], 'and hello', mtype='chat')


async def talk():
    ann, bob = Client('ann', False), Client('bob', True)
    await ann.there.wait()
    await bob.there.wait()
    ann.send_message('bob@localhost/here', 'hello', mtype='chat')
    await ann.answered.wait()
    await bob.disconnect()
    ann.send_message('bob@localhost', 'for later', mtype='chat')
    await ann.get_roster()  # the answer comes when the message has been taken
    await ann.disconnect()


asyncio.run(talk())
END
users
curl -s -k -o page -w '%{http_code}\n' https://localhost:5443/nothing
ejabberdctl restart
started_again 2
users
ejabberdctl stop
ejabberdctl stopped
ejabberdctl start
ejabberdctl started
users
ejabberdctl stop
ejabberdctl stopped
