# Programs that `cargo xtask observe test` observes: observed.sh NAME REQUESTS. Each prints `count N`, the number of messages
# from the first to the second program by its own statistics, if it has any. `NAME-prepare` runs before, unobserved.
set -eu
name=${1%-prepare} requests=$2
here=/mnt/$name
# Files of an earlier run would look like a server that is ready.
[ "$1" = postgres ] || rm -rf "$here"
mkdir -p "$here" && cd "$here"

until_exists() {
    tries=0
    until [ -e "$1" ]; do tries=$((tries + 1)); [ $tries -lt 200 ]; sleep 0.05; done
}

# Ends the program in the background, whose exit status is of no interest.
end() {
    kill "$1" 2>/dev/null || :
    wait "$1" 2>/dev/null || :
}

# Replaces the shell by a program of postgres, so that the PID in the background is that of the program.
become_postgres() { exec setpriv --reuid="$(id -u postgres)" --regid="$(id -g postgres)" --clear-groups env HOME="$here" LC_ALL=C "$@"; }
as_postgres() { (become_postgres "$@"); }

case $1 in
redis)
    redis-server --port 6390 --bind 127.0.0.1 --save '' >/dev/null &
    until redis-cli -p 6390 ping >/dev/null 2>&1; do sleep 0.05; done
    redis-cli -p 6390 config resetstat >/dev/null
    redis-benchmark -p 6390 -n "$requests" -c 4 -t get -q >/dev/null
    redis-cli -p 6390 info commandstats | sed -n 's/^cmdstat_get:calls=\([0-9]*\),.*/count \1/p'
    end $!
    ;;
postgres-prepare)
    chown postgres "$here"
    bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
    as_postgres "$bin/initdb" -D "$here/data" --no-sync -A trust >/dev/null
    echo "listen_addresses = ''
unix_socket_directories = '$here'
fsync = off" >>"$here/data/postgresql.conf"
    become_postgres "$bin/postgres" -D "$here/data" >log 2>&1 &
    until as_postgres "$bin/pg_isready" -q -h "$here"; do sleep 0.05; done
    as_postgres "$bin/pgbench" -i -q -h "$here" postgres >/dev/null 2>&1
    end $!
    ;;
postgres)
    bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
    become_postgres "$bin/postgres" -D "$here/data" >log 2>&1 &
    server=$!
    until as_postgres "$bin/pg_isready" -q -h "$here"; do sleep 0.05; done
    as_postgres "$bin/pgbench" -S -n -c 2 -t $((requests / 2)) -h "$here" postgres 2>/dev/null |
        sed -n 's/^number of transactions actually processed: \([0-9]*\).*/count \1/p'
    end "$server"
    ;;
nginx)
    echo "daemon off; worker_processes 1; error_log $here/error; pid $here/pid; user root;
events {}
http {
    access_log $here/access; client_body_temp_path $here; proxy_temp_path $here; fastcgi_temp_path $here;
    uwsgi_temp_path $here; scgi_temp_path $here; keepalive_requests 100000;
    upstream own { server unix:$here/upstream; keepalive 4; keepalive_requests 100000; }
    server {
        listen 127.0.0.1:8390;
        location / { proxy_pass http://own; proxy_http_version 1.1; proxy_set_header Connection ''; }
    }
}" >conf
    cat >upstream.py <<'PY'
import http.server, socketserver
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def address_string(self): return "nginx"
    def log_message(self, *_): pass
    def do_GET(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer): daemon_threads = True
Server("upstream", Handler).serve_forever()
PY
    cat >client.py <<'PY'
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", 8390)
for _ in range(int(sys.argv[1])):
    connection.request("GET", "/")
    connection.getresponse().read()
PY
    /usr/bin/python3 upstream.py &
    upstream=$!
    until_exists upstream
    /usr/sbin/nginx -p "$here" -c "$here/conf" &
    server=$!
    until_exists pid
    /usr/bin/python3 client.py "$requests"
    end "$server"
    echo "count $(wc -l <access)"
    end "$upstream"
    ;;
dbus)
    cat >client.py <<'PY'
import os, socket, struct, sys
def field(code, signature, value):
    text = value.encode()
    data = bytes([code, 1]) + signature.encode() + b"\0" + struct.pack("<I", len(text)) + text + b"\0"
    return data + bytes(-len(data) % 8)
def call(serial, member):
    bus = "org.freedesktop.DBus"
    fields = [(1, "o", "/org/freedesktop/DBus"), (2, "s", bus), (3, "s", member), (6, "s", bus)]
    data = b"".join(field(*one) for one in fields)
    # The padding of the last field is not part of the array.
    last = 9 + len(bus)
    return b"l\1\0\1" + struct.pack("<III", 0, serial, len(data) - -last % 8) + data
bus = socket.socket(socket.AF_UNIX)
bus.connect("bus")
bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
assert bus.recv(4096).startswith(b"OK")
bus.sendall(b"BEGIN\r\n" + call(1, "Hello"))
bus.recv(4096)
for serial in range(2, int(sys.argv[1]) + 2):
    bus.sendall(call(serial, "GetId"))
    assert bus.recv(4096)
print("count", sys.argv[1])
PY
    dbus-daemon --session --nofork --address="unix:path=$here/bus" &
    until_exists bus
    /usr/bin/python3 client.py "$requests"
    end $!
    ;;
pool)
    cat >pool.py <<'PY'
import multiprocessing, sys
def square(number): return number * number
with multiprocessing.get_context("fork").Pool(2) as pool:
    # A task and a result.
    print("count", 2 * len(pool.map(square, range(int(sys.argv[1])), chunksize=1)), flush=True)
PY
    /usr/bin/python3 pool.py "$requests"
    ;;
pipeline)
    seq "$((requests * 2500))" | cat | wc -c >/dev/null
    ;;
chromium)
    chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$here" \
        --dump-dom 'data:text/html,<p>observed' 2>/dev/null | grep -q observed
    ;;
esac
