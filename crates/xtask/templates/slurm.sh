# Makes the machine in the middle the controller of a cluster whose nodes are the two hosts. All that it writes is in /run, which
# is this test's own.
mkdir -p /run/slurm/state
cd /run/slurm
# The nodes find it by one address.
ip address add 10.77.0.1/32 dev lo
head -c 128 /dev/urandom >munge.key
chmod 600 munge.key
munged --key-file=/run/slurm/munge.key --socket=/run/slurm/munge.socket --pid-file=/run/slurm/munge.pid \
    --log-file=/run/slurm/munge.log --seed-file=/run/slurm/munge.seed
cat >slurm.conf <<END
ClusterName=furlong
SlurmctldHost=$(hostname -s)(10.77.0.1)
AuthType=auth/munge
AuthInfo=socket=/run/slurm/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/%n
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/%n.pid
ProctrackType=proctrack/linuxproc
MpiDefault=none
# A node that does not answer is down after so many seconds, and up again when it answers.
SlurmdTimeout=10
ReturnToService=2
NodeName=host-1 NodeAddr=10.77.1.2 CPUs=$(nproc)
NodeName=host-2 NodeAddr=10.77.2.2 CPUs=$(nproc)
PartitionName=all Nodes=ALL Default=YES State=UP
END
slurmctld -f /run/slurm/slurm.conf -L /run/slurm/slurmctld.log
