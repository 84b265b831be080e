# SPDX-License-Identifier: GPL-2.0-only
# Reads packages of another suite of Debian's archive without installing them;
# sourced.
# shellcheck shell=sh
#
# Everything goes through a private apt configuration: the machine's own
# package sources stay as they are (a newer suite among them would upgrade
# half of the machine), and apt checks the archive's signatures as always.

apt_tmp=
apt_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

have_archive() {
	command -v apt-get >/dev/null && [ -r "$apt_keyring" ]
}

close_archive() {
	[ -z "$apt_tmp" ] || rm -rf "$apt_tmp"
	apt_tmp=
}

# mirrors: the package mirrors this machine already uses. The security
# archive has no backports.
mirrors() {
	# apt's variables, not the shell's
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		grep -vi security | cut -d' ' -f1 | sort -u
}

apt_config() {
	cat <<-END
		Dir::Etc::SourceList "$apt_tmp/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
		Dir::State::Lists "$apt_tmp/lists";
		Dir::State::Status "$apt_tmp/status";
		Dir::Cache "$apt_tmp/cache";
		Acquire::Languages "none";
		Acquire::Retries "3";
		APT::Sandbox::User "root";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	END
}

# private_apt PROGRAM ARG...: the file given last wins over the machine's.
private_apt() {
	program=$1
	shift
	"$program" -c "$apt_tmp/apt.conf" "$@"
}

# open_archive SUITE: make the suite readable; fails where no mirror has it.
# close_archive removes everything again.
open_archive() {
	apt_tmp=$(mktemp -d)
	mkdir -p "$apt_tmp/lists/partial" "$apt_tmp/cache/archives/partial"
	: >"$apt_tmp/status"
	: >"$apt_tmp/log"
	apt_config >"$apt_tmp/apt.conf"
	for mirror in $(mirrors); do
		echo "deb [signed-by=$apt_keyring arch=amd64] $mirror $1 main" >"$apt_tmp/sources.list"
		# apt calls an update with unreachable sources a success.
		if private_apt apt-get -qq update >"$apt_tmp/log" 2>&1 &&
			[ -n "$(private_apt apt-cache pkgnames)" ]; then
			return
		fi
	done
	cat "$apt_tmp/log" >&2
	return 1
}

# unpack PACKAGE...: into $apt_tmp/root.
unpack() {
	rm -rf "$apt_tmp/deb"
	mkdir "$apt_tmp/deb"
	(cd "$apt_tmp/deb" && private_apt apt-get -qq download "$@") || return 1
	for deb in "$apt_tmp"/deb/*.deb; do
		dpkg-deb -x "$deb" "$apt_tmp/root" || return 1
	done
}
