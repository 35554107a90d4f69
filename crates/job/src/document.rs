//! The one way to write a job down, whatever way it was written.

use serde_json::{Map, Value, json};

use crate::connection::Connection;
use crate::follow_up::FollowUp;
use crate::job::{DEADLINE_DEFAULT, Duplicates, Job, Method, QUEUE_DEFAULT};
use crate::measure::Measure;
use crate::notify::{Ending, Notify, ON_DEFAULT};
use crate::param::{Fallback, Param};
use crate::schedule::{CatchUp, Schedule};
use crate::source::{Empty, FileFormat, FileOptions, Rows, Source};
use crate::stage::{Stage, Strategy};
use crate::tolerance::{Allow, Base, Rule, RuleKind, Tolerance};

impl Job {
    /// The job as a document again: the same for every way to write the same job, and a new revision when it changes.
    ///
    /// What has its default is left out, so that a field that is added later does not change the jobs there are.
    pub fn document(&self) -> Value {
        let mut job = Object::default();
        job.set("name", self.name.clone());
        job.some("description", self.description.as_deref());
        job.map("params", self.params.iter().map(|(name, it)| (name, param(it))));
        job.map("connections", self.connections.iter().map(|(name, it)| (name, connection(it))));
        job.list("sources", self.sources.iter().map(source));
        job.set("dimensions", self.dimensions.clone());
        job.list("measures", self.measures.iter().map(measure));
        job.list("stages", self.stages.iter().map(stage));
        if self.strategy != Strategy::All {
            job.set("strategy", self.strategy.name());
        }
        if let Strategy::Parallel { max_stage_concurrency: Some(limit) } = self.strategy {
            job.set("max_stage_concurrency", limit.get());
        }
        job.list("only", self.only.iter().map(|column| json!(column)));
        job.list("ignore", self.ignore.iter().map(|column| json!(column)));
        job.some("compare", (self.compare != Method::Full).then(|| self.compare.name()));
        job.some("duplicates", self.duplicates.map(Duplicates::name));
        job.some("reference", self.reference.as_deref());
        job.some("schedule", self.schedule.as_ref().map(schedule));
        job.some("queue", Some(self.queue.as_str()).filter(|queue| *queue != QUEUE_DEFAULT));
        let deadline = Some(self.deadline).filter(|deadline| *deadline != DEADLINE_DEFAULT);
        job.some("deadline", deadline.map(|deadline| format!("{}s", deadline.as_secs())));
        job.some("retries", Some(self.retries).filter(|retries| *retries > 0));
        job.some("notify", self.notify.as_ref().map(notify));
        job.list("then", self.then.iter().map(follow_up));
        job.some("memory", self.memory.map(|memory| memory.to_string()));
        job.some("threads", self.threads.map(std::num::NonZeroUsize::get));
        job.done()
    }
}

/// An object of which what is empty is left out.
#[derive(Default)]
struct Object(Map<String, Value>);

impl Object {
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    fn some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    fn list(&mut self, name: &str, values: impl Iterator<Item = Value>) {
        let values: Vec<Value> = values.collect();
        self.some(name, Some(values).filter(|values| !values.is_empty()));
    }

    fn map<'n>(&mut self, name: &str, values: impl Iterator<Item = (&'n String, Value)>) {
        let values: Map<String, Value> = values.map(|(name, value)| (name.clone(), value)).collect();
        self.some(name, Some(values).filter(|values| !values.is_empty()));
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn param(param: &Param) -> Value {
    let mut object = Object::default();
    object.set("type", param.kind.name());
    object.some(
        "default",
        param.default.as_ref().map(|default| match default {
            Fallback::Value(value) => value.to_json(),
            Fallback::Template(template) => json!(template.to_string()),
        }),
    );
    object.some("description", param.description.as_deref());
    object.done()
}

fn connection(connection: &Connection) -> Value {
    let mut object = Object::default();
    object.set("type", connection.kind.name());
    for (name, setting) in &connection.settings {
        match setting.to_text() {
            // The port is the one setting that is a number.
            port if *name == "port" => object.some(name, port.parse::<u16>().ok()),
            text => object.set(name, text),
        }
    }
    object.done()
}

fn source(source: &Source) -> Value {
    let mut object = Object::default();
    object.set("name", source.name.clone());
    object.some("connection", source.rows.connection());
    match &source.rows {
        Rows::Query { query, .. } => object.set("query", query.to_string()),
        Rows::Table { table, .. } => {
            let quoted: Vec<String> = table.iter().map(|part| format!("\"{part}\"")).collect();
            object.set("table", quoted.join("."));
        }
        Rows::Files { path, options, .. } => {
            object.set("file", path.to_string());
            file_options(&mut object, options);
        }
    }
    object.map("columns", source.columns.iter().map(|(name, new)| (name, json!(new))));
    object.map("casts", source.casts.iter().map(|(name, kind)| (name, json!(kind.name()))));
    object.some("filter", source.filter.as_ref().map(ToString::to_string));
    object.some("timezone", source.timezone.map(|zone| zone.to_string()));
    object.map("date_formats", source.date_formats.iter().map(|(name, format)| (name, json!(format))));
    object.done()
}

fn file_options(object: &mut Object, options: &FileOptions) {
    object.some("format", options.format.map(FileFormat::name));
    object.some("delimiter", options.delimiter.map(String::from));
    object.some("quote", options.quote.map(String::from));
    object.some("encoding", options.encoding.as_deref());
    object.some("empty", options.empty.map(Empty::name));
    object.some("no_header", options.no_header);
    object.some("sheet", options.sheet.as_deref());
    object.some("decimal_separator", options.decimal_separator.map(String::from));
    object.some("thousands_separator", options.thousands_separator.map(String::from));
}

fn measure(measure: &Measure) -> Value {
    json!({"name": measure.name, "aggregate": measure.aggregate.name(), "column": measure.column})
}

fn stage(stage: &Stage) -> Value {
    let mut object = Object::default();
    object.set("name", stage.name.clone());
    object.set("dimensions", stage.dimensions.clone());
    object.list("tolerances", stage.tolerances.iter().map(tolerance));
    object.done()
}

fn tolerance(tolerance: &Tolerance) -> Value {
    let mut object = Object::default();
    object.set("measure", tolerance.measure.clone());
    let kind = match &tolerance.rule {
        Rule::Exact { normalise } => {
            object.list("normalise", normalise.iter().map(|it| json!(it.name())));
            RuleKind::Exact
        }
        Rule::Absolute(value) => {
            object.set("value", value.to_string());
            RuleKind::Absolute
        }
        Rule::Percentage { value, base } => {
            object.set("value", value.to_string());
            object.some(
                "base",
                match base {
                    Base::Larger => None,
                    Base::Smaller => Some("smaller"),
                    Base::Mean => Some("mean"),
                    Base::Source(name) => Some(name),
                },
            );
            RuleKind::Percentage
        }
        Rule::Duration { from, to } => {
            object.set("value", format!("{from}s..{to}s"));
            RuleKind::Duration
        }
    };
    object.set("type", kind.name());
    match &tolerance.allow {
        Allow::None => {}
        Allow::Count(count) => object.set("allow", *count),
        Allow::Percent(share) => object.set("allow", format!("{share}%")),
    }
    object.done()
}

fn schedule(schedule: &Schedule) -> Value {
    let mut object = Object::default();
    object.set("cron", schedule.cron.to_string());
    object.set("timezone", schedule.timezone.name());
    object.some("catch_up", (schedule.catch_up != CatchUp::None).then(|| schedule.catch_up.name()));
    object.done()
}

fn notify(notify: &Notify) -> Value {
    let mut object = Object::default();
    object.set("emails", notify.emails.clone());
    object.set("detail", notify.detail.name());
    object.some("max_rows", notify.max_rows);
    if notify.on != ON_DEFAULT {
        object.list("on", notify.on.iter().map(|it| json!(it.name())));
    }
    object.done()
}

fn follow_up(follow_up: &FollowUp) -> Value {
    let mut object = Object::default();
    object.set("job", follow_up.job.clone());
    object.some("when", (follow_up.when != Ending::Matched).then(|| follow_up.when.name()));
    object.map("params", follow_up.params.iter().map(|(name, value)| (name, json!(value.to_string()))));
    object.done()
}
