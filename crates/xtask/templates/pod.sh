# Runs /pod.sh below the folder $1 with furlong, the program $2, and the applets of busybox: in namespaces of its own, which whoever
# starts this has made, and with no file but its own and the libraries that furlong is linked to.
set -e
root=$1
mkdir -p "$root/bin" "$root/usr/bin" "$root/proc" "$root/dev/shm" "$root/tmp"
cp /bin/busybox "$root/bin/busybox"
chroot "$root" /bin/busybox --install -s /bin
# The one applet of the image that Debian's busybox has not.
[ -L "$root/bin/flock" ] || cp "$(command -v flock)" "$root/bin/flock"
cp "$2" "$root/usr/bin/furlong"
for library in usr/lib usr/lib64 lib lib64; do
    if [ -L "/$library" ]; then
        cp -P "/$library" "$root/$library"
    elif [ -d "/$library" ]; then
        mkdir -p "$root/$library"
        mount --bind "/$library" "$root/$library"
    fi
done
mount -t proc none "$root/proc"
for device in null zero random urandom tty; do
    : > "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t tmpfs -o size=256m none "$root/dev/shm"
ip link set lo up
exec chroot "$root" /bin/env -i PATH=/usr/bin:/bin /bin/sh /pod.sh
