# Makes the machine that the others are reached from, in namespaces that nobody else has: keys, and what ssh and sshd are told.
# Arguments: the program that is measured with.
set -eu
mount -t tmpfs none /run
mkdir -p /run/sshd /run/hosts/bin /run/hosts/with-furlong
cd /run/hosts
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f host_key
cp "$1" with-furlong/furlong
for number in 1 2; do
    echo "host-$number $(cat host_key.pub)" >>known_hosts
    # The first host has furlong already.
    case $number in 1) path=/run/hosts/with-furlong:$PATH ;; *) path=/usr/bin:/bin ;; esac
    cat >"host-$number.conf" <<END
Port 22
HostKey /run/hosts/host_key
AuthorizedKeysFile /run/hosts/key.pub
StrictModes no
UsePAM no
PidFile none
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
SetEnv PATH=$path
END
    cat >>ssh_config <<END
Host host-$number
HostName 10.77.$number.2
HostKeyAlias host-$number
END
done
cat >>ssh_config <<END
Host *
User root
IdentityFile /run/hosts/key
UserKnownHostsFile /run/hosts/known_hosts
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
END
printf '#!/bin/sh\nexec /usr/bin/ssh -F /run/hosts/ssh_config "$@"\n' >bin/ssh
chmod 755 bin/ssh
ip link set lo up
