#!/bin/sh
# cloud-init runs this once, as root, in a Debian without a network beyond its one card. Each check prints one line to
# the console: "check: ok NAME ..." or "check: failed NAME ...".
exec >/dev/ttyS0 2>&1
ok() { echo "check: ok $*"; }
failed() { echo "check: failed $*"; }
fail_with_log() { failed "$@"; journalctl -u ferrite --no-pager -o cat | tail -n 20; }
main_pid() { systemctl show -p MainPID --value ferrite; }
field() { awk -v key="$1:" '$1 == key {print $2}' "/proc/$(main_pid)/status"; }
now() { date +%s.%N; }
since() { echo "$1 $(now)" | awk '{printf "%.1f s", $2 - $1}'; }
# within SECONDS COMMAND...: the command succeeds before these are over.
within() {
	end=$(($(date +%s) + $1)); shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$end" ] || return 1
		sleep 0.2
	done
}

mkdir /media/drive && mount -o ro /dev/disk/by-label/config-2 /media/drive
export HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C

# The network boot loaders first: they are not Ferrite's.
dpkg --force-depends -i /media/drive/ipxe.deb >/dev/null || failed ipxe
start=$(now)
said=$(apt-get install -y -qq --no-install-recommends /media/drive/ferrite.deb 2>&1)
password=$(echo "$said" | sed -n 's/.*user admin, password \([^ ]*\) .*/\1/p')
export FERRITE_USER=admin FERRITE_PASSWORD="$password"
if [ -n "$password" ] && within 60 ferrite node list; then ok install "$(since "$start")"; else
	fail_with_log install "$said"
fi
ferrite node create --name first --driver manual-management >/dev/null && ok node || failed node

# Commands that the installation prints, as they are typed at a terminal.
typed() { script -qec "$1" /dev/null; }
new() { FERRITE_PASSWORD=a-new-password ferrite node list; }
said=$(printf 'a-new-password\na-new-password\n' | typed "ferrite user password admin" 2>&1 && within 30 new &&
	printf '\n\n\n\n\n' | typed "ferrite server setup" && within 60 new && ferrite server doctor &&
	systemctl start ferrite && journalctl -u ferrite | grep -c . 2>&1)
if [ $? = 0 ]; then ok printed; else fail_with_log printed "$said"; fi

[ "$(systemctl is-active ferrite)/$(systemctl is-enabled ferrite)" = active/enabled ] && ok state || failed state
uid=$(field Uid)
[ "$uid" -ge 61184 ] && [ "$uid" -le 65519 ] && ok user "$uid" || failed user "$uid"
held="$(field CapEff) $(field CapBnd) $(field NoNewPrivs) $(field Seccomp)"
[ "$held" = "0000000000003400 0000000000003400 1 2" ] && ok capabilities || failed capabilities "$held"

# A boot service at the machine's card.
card=$(ls -d /sys/class/net/*/device | cut -d/ -f5)
mkdir -p /srv/ferrite && echo kernel >/srv/ferrite/metal.vmlinuz && echo ramdisk >/srv/ferrite/metal.initramfs
echo "a-long-password" >/root/password
said=$(ferrite server setup --yes --interface "$card" --pool 10.77.0.100-10.77.0.200 --admin alice \
	--admin-password-file /root/password 2>&1)
export FERRITE_URL=https://10.77.0.1:6385 FERRITE_CACERT=/etc/ferrite/ca.pem FERRITE_USER=alice FERRITE_PASSWORD=a-long-password
if within 60 ferrite node show first; then ok setup; else fail_with_log setup "$said"; fi
ports=$(ss -lnuH | awk '{n = split($4, a, ":"); print a[n]}' | sort -un | tr '\n' ' ')
case " $ports" in *" 67 69 "*) ok boot "$ports" ;; *) fail_with_log boot "$ports" ;; esac
# The key is root's alone: the service has it by its credentials.
open=$(find /etc/ferrite/private ! -user root -o -perm /077)
[ -s /etc/ferrite/private/key.pem ] && [ -z "$open" ] && ok key || failed key "$open"
exposure=$(systemd-analyze security ferrite --no-pager | sed -n 's/.*exposure level for ferrite.service: \([0-9.]*\).*/\1/p')
echo "$exposure" | awk '{exit !($1 > 0 && $1 <= 2.0)}' && ok exposure "$exposure" || failed exposure "$exposure"

# Killed, frozen, restarted.
before=$(main_pid); start=$(now)
kill -KILL "$before"
answers() { [ "$(main_pid)" != "$before" ] && ferrite node show first; }
if within 60 answers; then ok killed "$(since "$start")"; else fail_with_log killed; fi
before=$(main_pid); start=$(now)
kill -STOP "$before"
if within 180 answers && journalctl -u ferrite | grep -q 'Watchdog timeout'; then ok frozen "$(since "$start")"; else
	fail_with_log frozen
fi
before=$(main_pid); start=$(now)
systemctl restart ferrite
if within 60 answers; then ok restarted "$(since "$start")"; else fail_with_log restarted; fi
if systemctl stop ferrite && [ "$(systemctl show -p Result --value ferrite)" = success ]; then ok stopped; else
	fail_with_log stopped
fi
systemctl start ferrite

# A configuration of the operator's is replaced where the flag says so; all questions have their defaults.
local_api() { FERRITE_URL=https://127.0.0.1:6385 FERRITE_USER=admin FERRITE_PASSWORD=a-new-password ferrite node list; }
if said=$(printf '\n\n\n\n\n' | typed "ferrite server setup --overwrite" 2>&1) && within 60 local_api &&
	[ -e /etc/ferrite/ferrite.yaml.old ]; then ok replaced; else fail_with_log replaced "$said"; fi

# Only data is left.
said=$(apt-get purge -y -qq ferrite)
left=$(ls -d /etc/ferrite /usr/bin/ferrite /usr/lib/systemd/system/ferrite.service /run/credentials/ferrite.service 2>/dev/null)
[ -z "$left" ] && [ "$(systemctl is-active ferrite)" = inactive ] && ! getent group ferrite-config >/dev/null &&
	[ -e /var/lib/private/ferrite ] && echo "$said" | grep -q 'rm -r /var/lib/ferrite /var/lib/private/ferrite' &&
	echo "$said" | grep -q 'rm -r /srv/ferrite' && ok purged || failed purged "$left $said"
echo "check: end"
