# What is another host to furlong is a shell of this one. $agent is furlong there, and $there the shell that has started it.
for process in /proc/[0-9]*; do
    case $(tr '\0' ' ' < "$process/cmdline" 2> kill.err) in "furlong peer "*) agent=${process#/proc/} ;; esac
done
there=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$agent/status")
# The responder is the child of that one.
for role; do if grep -q "^PPid:[^0-9]*$agent\$" "/proc/$role/status"; then responder=$role; fi; done
