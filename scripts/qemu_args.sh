# SPDX-License-Identifier: GPL-2.0-only
# How the virtual machine is built; sourced by vm.sh, whose option variables
# (smp, nodes, mem, append, icount, mode, image, tmp) and qemu it reads.
# shellcheck shell=sh
# shellcheck disable=SC2154

# emulation: qemu.sh says why an old QEMU gets one thread for all CPUs.
emulation() {
	if parallel_qemu "$qemu"; then
		echo tcg,thread=multi
	else
		say "this QEMU cannot run CPUs in parallel safely: using one thread for all"
		echo tcg,thread=single
	fi
}

# kvm_works: a /dev/kvm that opens says nothing; there are machines where it
# does, and no guest kernel runs. The CPU's flags decide. Counting
# instructions is a feature of the emulator.
kvm_works() {
	[ -z "$icount" ] && grep -qwE 'vmx|svm' /proc/cpuinfo &&
		[ -r /dev/kvm ] && [ -w /dev/kvm ]
}

# choose_qemu: only parallel emulation asks for more than is installed. What
# counts instructions stays with that, too: its figures compare with others'.
choose_qemu() {
	if [ -n "$icount" ] || kvm_works; then
		echo qemu-system-x86_64
	else
		"$here/qemu.sh"
	fi
}

accelerator() {
	if [ -n "$icount" ]; then
		printf '%s\n' -accel tcg,thread=single -icount shift=0,sleep=off,align=off
	elif kvm_works; then
		printf '%s\n' -accel kvm
	else
		printf '%s\n' -accel "$(emulation)"
	fi
}

# smp_value KEY: from "8,sockets=2,maxcpus=16"; the bare number is "cpus".
smp_value() {
	echo "$smp" | tr , '\n' | sed -n "s/^$1=//p; 1{ /^[0-9]*\$/s/^/cpus=/; s/^$1=//p; }" | head -n 1
}

# mebibytes SIZE
mebibytes() {
	case $1 in
	*[!0-9]*[!GgMm] | '' | [!0-9]*) die 2 "--mem: $1 is no size such as 4G or 512M" ;;
	*[Gg]) echo $((${1%[Gg]} * 1024)) ;;
	*[Mm]) echo "${1%[Mm]}" ;;
	*) echo "$1" ;;
	esac
}

# numa: CPUs and memory in equal parts, each node with memory of its own.
# QEMU numbers CPUs socket by socket, so parts of the range are whole sockets.
numa() {
	cpus=$(smp_value maxcpus)
	cpus=${cpus:-$(smp_value cpus)}
	case $nodes in
	'' | *[!0-9]* | 0) die 2 "--nodes: $nodes is no number of nodes" ;;
	esac
	[ "$((cpus % nodes))" = 0 ] || die 2 "--nodes: $cpus CPUs do not split into $nodes"
	per_node=$((cpus / nodes))
	node=0
	while [ "$node" -lt "$nodes" ]; do
		first=$((node * per_node))
		printf '%s\n' \
			-object "memory-backend-ram,id=m$node,size=$((mib / nodes))M" \
			-numa "node,nodeid=$node,cpus=$first-$((first + per_node - 1)),memdev=m$node"
		node=$((node + 1))
	done
}

# port NAME: a guest port whose bytes end up in $tmp/NAME. Files are opened
# for appending: QEMU would truncate them otherwise, under the reader.
port() {
	printf '%s\n' \
		-chardev "file,id=$1,path=$tmp/$1,append=on" \
		-device "virtserialport,chardev=$1,name=sibling.$1"
}

# ioeventfd=off: a guest's write to a port returns when QEMU has handled it.
# With it on, the last bytes before power-off race with QEMU's own exit.
ports() {
	printf '%s\n' -device virtio-serial-pci,ioeventfd=off
	port ctl
	if [ "$mode" = shell ]; then
		printf '%s\n' -chardev stdio,id=con,signal=off -serial chardev:con
	else
		port out
		port err
		printf '%s\n' -chardev "file,id=con,path=$tmp/console,append=on" -serial chardev:con
	fi
}

# qemu_args FILE: write the whole command, one argument a line.
# panic=-1 reboots at once, which -no-reboot turns into an end. tsc=reliable,
# or the guest finds the emulated TSC unstable and reads a slow clock.
qemu_args() {
	mib=$(mebibytes "$mem")
	[ -z "$nodes" ] || mib=$((mib / nodes * nodes))
	{
		printf '%s\n' "$qemu" -nodefaults -no-user-config \
			-display none -no-reboot -nic none -cpu max -smp "$smp" -m "${mib}M"
		accelerator
		[ -z "$nodes" ] || numa
		ports
		printf '%s\n' -kernel "$image" -initrd "$tmp/initrd" -append \
			"console=ttyS0 panic=-1 quiet tsc=reliable rdinit=/init$append"
		cat "$tmp/qemu"
	} >"$1"
}
