// SPDX-License-Identifier: GPL-2.0-only
//! Opens, fills in, loads and attaches the BPF side; detaching is dropping.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Instant;
use std::time::SystemTime;

use anyhow::anyhow;
use anyhow::Context;
use anyhow::Result;
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::query::ProgramInfo;
use libbpf_rs::Link;
use libbpf_rs::MapHandle;
use libbpf_rs::OpenObject;
use libbpf_rs::ProgramInput;
use scx_utils::scx_ops_attach;
use scx_utils::scx_ops_load;
use scx_utils::scx_ops_open;

use crate::exit;
use crate::exit::Failure;
use crate::exit::Outcome;
use crate::exit_record;
use crate::exit_record::ExitRecord;
use crate::out;
use crate::proc_stat;
use crate::skel::BpfSkel;
use crate::skel::BpfSkelBuilder;
use crate::skel::OpenBpfSkel;
use crate::stats;
use crate::stats::sample::level_gauges;
use crate::stats::sample::CpuReading;
use crate::stats::sample::Sample;
use crate::stats::Counters;
use crate::topology;
use crate::topology::layout;
use crate::topology::layout::Layout;
use crate::tunables;
use crate::tunables::Settings;

/// What the scheduler is started with.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Tunables and switches at start.
    pub settings: Settings,
    /// Length of the kernel's debug dump on an error; 0: the kernel's default.
    pub exit_dump_len: u32,
    /// Print the verifier's log.
    pub verbose: bool,
}

/// A loaded and attached scheduler. The link comes first: it must go before the
/// object whose maps the exit record is read from.
pub struct Scheduler<'obj> {
    link: Option<Link>,
    skel: BpfSkel<'obj>,
    /// Those that run tasks.
    cpus: Vec<u32>,
}

const HOTPLUG_SEQ: &str = "/sys/kernel/sched_ext/hotplug_seq";

impl<'obj> Scheduler<'obj> {
    /// Reads the topology, loads and attaches.
    ///
    /// The hotplug sequence is read before the topology and handed to the
    /// kernel with the ops: a CPU that comes or goes in between makes the
    /// attached scheduler exit at once with the restart code, so a stale
    /// topology is never acted on.
    ///
    /// `live` is the map of the tunables of an earlier load: it goes on being used,
    /// with what was set in it meanwhile; otherwise they are as in `options`.
    ///
    /// # Errors
    /// A [`Failure`] where the cause is known, else the failing step.
    pub fn start(
        object: &'obj mut MaybeUninit<OpenObject>,
        sysfs: &Path,
        options: &Options,
        live: Option<BorrowedFd<'_>>,
    ) -> Result<Self> {
        let hotplug_seq = hotplug_seq()?;
        let machine = topology::read(sysfs).map_err(|e| Failure::Machine(e.to_string()))?;
        let layout = layout::build(&machine).map_err(|e| Failure::Machine(e.to_string()))?;

        let mut builder = BpfSkelBuilder::default();
        builder.obj_builder.debug(options.verbose);
        let mut open: OpenBpfSkel<'obj> = scx_ops_open!(
            builder,
            object,
            sibling_ops,
            None::<libbpf_rs::libbpf_sys::bpf_object_open_opts>
        )
        .context("opening the BPF object")?;
        open.struct_ops.sibling_ops_mut().hotplug_seq = hotplug_seq;
        open.struct_ops.sibling_ops_mut().exit_dump_len = options.exit_dump_len;
        // Comes with the headers, answers a question nobody here asks, and holds a bpf_printk():
        // loading that makes the kernel record a name at every switch and wake-up until reboot.
        open.progs.scx_lib_init_probe.set_autoload(false);
        fill_rodata(&mut open, &layout, &machine)?;
        match live {
            Some(map) => open
                .maps
                .data_tun
                .reuse_fd(map)
                .context("taking over the tunables")?,
            None => fill_tunables(&mut open, &options.settings)?,
        }

        let mut skel = scx_ops_load!(open, sibling_ops, uei)
            .context("loading the BPF programs; run with -v for the kernel's reasons")?;
        if options.verbose {
            say_programs();
        }
        let link = scx_ops_attach!(skel, sibling_ops).map_err(attach_failure)?;
        Ok(Scheduler {
            link: Some(link),
            skel,
            cpus: machine.online.iter().collect(),
        })
    }

    /// A handle of its own on the map of the tunables, which outlives this load.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn live(&self) -> Result<MapHandle> {
        MapHandle::try_from(&self.skel.maps.data_tun).context("keeping the map of the tunables")
    }

    /// Has the kernel let go of the scheduler?
    pub fn exited(&self) -> bool {
        self.exit_kind() != 0
    }

    fn exit_kind(&self) -> i32 {
        match &self.skel.maps.data_data {
            // SAFETY: the field is a plain integer in a live mapping that the kernel writes.
            Some(data) => unsafe { std::ptr::read_volatile(&data.uei.kind) },
            None => 0,
        }
    }

    /// The counters, summed over all CPUs.
    pub fn counters(&self) -> Counters {
        match &self.skel.maps.bss_data {
            Some(bss) => stats::sum(&bss.cpu_stats),
            None => Counters::new(),
        }
    }

    /// All statistics; `earlier` is what earlier loads of this run counted.
    pub fn sample(&self, earlier: &Counters) -> Sample {
        // What fails here leaves the last reading of nr_running in place, no more.
        let _ = self
            .skel
            .progs
            .sibling_sample
            .test_run(ProgramInput::default());
        let times = proc_stat::parse(&fs::read_to_string("/proc/stat").unwrap_or_default());
        let mut counters = self.counters();
        stats::add(&mut counters, earlier);
        let mut sample = Sample {
            at: Instant::now(),
            time: SystemTime::now(),
            counters,
            cpus: BTreeMap::new(),
            levels: BTreeMap::new(),
        };
        let Some(bss) = &self.skel.maps.bss_data else {
            return sample;
        };
        let state_of = |cpu: &u32| bss.cpu_state.get(*cpu as usize);
        sample.levels = level_gauges(self.cpus.iter().filter_map(state_of));
        for cpu in &self.cpus {
            let kernel = bss.cpu_samples.get(*cpu as usize);
            let (Some(state), Some(kernel)) = (state_of(cpu), kernel) else {
                continue;
            };
            let reading = CpuReading {
                nr_running: kernel.nr_running,
                avg_idle_ns: state.avg_idle_ns,
                idle_ns: kernel.idle_ns,
                times: times.get(cpu).copied().unwrap_or_default(),
            };
            sample.cpus.insert(*cpu, reading);
        }
        sample
    }

    /// Detaches and says how the run ended.
    pub fn stop(&mut self) -> Outcome {
        // Ended before it was asked to: somebody else took the ops away.
        let early = self.exited();
        // Dropping the link unregisters; the exit record is complete after it.
        drop(self.link.take());
        let record = match &self.skel.maps.data_data {
            Some(data) => ExitRecord::new(&data.uei),
            None => ExitRecord::default(),
        };
        let outcome = exit::judge(&record, early);
        if matches!(outcome, Outcome::Failed(_)) {
            if let Some(dump) = exit_record::dump() {
                out::note(format_args!("the kernel's debug dump:\n{dump}"));
            }
        }
        outcome
    }
}

/// What the verifier made of each program: how far it is from its limit of a million.
fn say_programs() {
    let ours = |info: &ProgramInfo| info.name.to_string_lossy().starts_with("sibling_");
    for info in ProgInfoIter::default().filter(ours) {
        out::note(format_args!(
            "program {}: {} instructions verified",
            info.name.to_string_lossy(),
            info.verified_insns
        ));
    }
}

fn hotplug_seq() -> Result<u64> {
    let text = fs::read_to_string(HOTPLUG_SEQ)
        .with_context(|| format!("reading {HOTPLUG_SEQ}; is this a sched_ext kernel?"))?;
    text.trim()
        .parse()
        .with_context(|| format!("{HOTPLUG_SEQ} holds {text:?}, not a number"))
}

/// The attach macro's one foreseeable failure is a race with another loader.
fn attach_failure(error: anyhow::Error) -> anyhow::Error {
    let name = fs::read_to_string("/sys/kernel/sched_ext/root/ops").unwrap_or_default();
    if name.trim().is_empty() {
        return error.context("attaching the scheduler");
    }
    Failure::OtherScheduler(name.trim().to_string()).into()
}

fn fill_rodata(
    open: &mut OpenBpfSkel,
    layout: &Layout,
    machine: &topology::Topology,
) -> Result<()> {
    let rodata = open
        .maps
        .rodata_data
        .as_mut()
        .ok_or_else(|| anyhow!("the BPF object has no .rodata"))?;
    let ids = machine.possible.as_ref().unwrap_or(&machine.online);
    let last = ids.iter().last().max(machine.online.iter().last());
    rodata.nr_cpu_ids = last.map_or(1, |cpu| cpu + 1).min(layout_limit());
    rodata.nr_nodes = layout.nodes.len() as u32;
    rodata.cpu_topo[..layout.cpus.len()].copy_from_slice(&layout.cpus);
    rodata.llc_topo[..layout.llcs.len()].copy_from_slice(&layout.llcs);
    rodata.node_topo[..layout.nodes.len()].copy_from_slice(&layout.nodes);
    Ok(())
}

fn layout_limit() -> u32 {
    crate::skel::types::sibling_limits::MAX_CPUS.0
}

fn fill_tunables(open: &mut OpenBpfSkel, settings: &Settings) -> Result<()> {
    let live = open
        .maps
        .data_tun_data
        .as_mut()
        .ok_or_else(|| anyhow!("the BPF object has no .data.tun"))?;
    live.live.table = tunables::table_id();
    live.live.pid = std::process::id().into();
    live.live.v.copy_from_slice(&settings.words);
    Ok(())
}
