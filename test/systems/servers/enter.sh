# SPDX-License-Identifier: Apache-2.0
# Runs a session with folders of its own for what the server keeps, and with a network of its own.
#   enter.sh SERVER FOLDER SESSION   SERVER: what its folders in /etc, /var/lib and /var/log are called
# FOLDER gets the server's logs.
set -eu
server=$1 folder=$2 session=$3
owner=$(stat -c %U:%G /var/lib/"$server")
mount -t tmpfs none "$folder/own"
for kept in etc var/lib var/log; do
    mkdir -p "$folder/own/$kept"
    cp -a /"$kept/$server" "$folder/own/$kept/"
    [ "$kept" = etc ] || find "$folder/own/$kept/$server" -mindepth 1 -delete
    mount --bind "$folder/own/$kept/$server" /"$kept/$server"
done
chown "$owner" /var/lib/"$server" /var/log/"$server"
hostname box
echo '127.0.0.1 localhost box' >"$folder/own/hosts"
mount --bind "$folder/own/hosts" /etc/hosts
ip link set lo up
cd "$folder"
status=0
sh -u "$session" 2>&1 || status=$?
cp -r /var/log/"$server" "$folder/log"
exit $status
