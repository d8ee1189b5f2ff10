# Enters a control group that may use half of a CPU, of the first or the second version of control groups.
if [ -d /sys/fs/cgroup/cpu ]; then
    group=/sys/fs/cgroup/cpu/furlong-consistency
    mkdir -p $group
    echo 50000 > $group/cpu.cfs_quota_us
else
    group=/sys/fs/cgroup/furlong-consistency
    mkdir -p $group
    echo '50000 100000' > $group/cpu.max
fi
echo $$ > $group/cgroup.procs
