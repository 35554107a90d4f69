//! The payload of `run.comparison.completed`, and what always holds of its numbers.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::outcome::Verdict;

/// See [`EventType::ComparisonCompleted`](crate::EventType::ComparisonCompleted).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completed {
    /// Rows of each source, by its name.
    pub source_row_counts: BTreeMap<String, u64>,
    /// How the groups joined.
    pub join_stats: JoinStats,
    /// How each measure fared.
    pub tolerances: Vec<Tolerance>,
    /// What the comparison found.
    pub result: Verdict,
    /// Distinct groups.
    pub rows_compared: u64,
    /// Groups in every source, with every measure within its tolerance.
    pub rows_matched: u64,
    /// The others.
    pub rows_unmatched: u64,
    /// What is wrong beside the numbers, such as a column that one source lacks, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// How the groups of the sources joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinStats {
    /// Groups that every source has.
    pub matched_groups: u64,
    /// For each source, the groups that it has and not all others have.
    pub unmatched_by_source: BTreeMap<String, u64>,
}

/// How one measure fared over the groups that every source has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// The measure.
    pub measure_name: String,
    /// Such as `ABSOLUTE` or `PERCENTAGE`.
    pub tolerance_type: String,
    /// How far apart is still within; absent where the type has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance_value: Option<Leeway>,
    /// Groups within it.
    pub within_tolerance_count: u64,
    /// Groups outside it.
    pub outside_tolerance_count: u64,
    /// Whether no more are outside than may be.
    pub passed: bool,
}

/// How far apart is still within.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Leeway {
    /// A number, or a percentage.
    Number(Number),
    /// Of dates and times: `2d`, or `-1d..+3d`.
    Duration(String),
}

impl fmt::Display for Leeway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Duration(text) => f.write_str(text),
        }
    }
}

/// Numbers of a comparison that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// With two sources every group is in both or in one.
    #[error("rows_compared is {rows_compared}, but the groups joined and left over are {groups}")]
    Compared {
        /// What the payload says.
        rows_compared: u64,
        /// What its parts add up to.
        groups: u64,
    },
    /// A group of more than two sources is left over in one of them at least.
    #[error("rows_compared is {rows_compared}, but must be from {least} to {most}")]
    Distinct {
        /// What the payload says.
        rows_compared: u64,
        /// The groups if those left over are the same in every source that has any.
        least: u64,
        /// The groups if each is left over in one source.
        most: u64,
    },
    /// Every joined group is within the tolerance of a measure, or outside it.
    #[error("measure {measure}: within and outside are {judged} groups, but {matched_groups} joined")]
    Judged {
        /// The measure.
        measure: String,
        /// Groups within and outside.
        judged: u64,
        /// Groups that joined.
        matched_groups: u64,
    },
    /// A matched group is within every tolerance.
    #[error("rows_matched is {rows_matched}, but must be from {least} to {most}")]
    Matched {
        /// What the payload says.
        rows_matched: u64,
        /// The groups if none is outside two tolerances.
        least: u64,
        /// The groups if those outside the worst tolerance are all that are outside any.
        most: u64,
    },
    /// What did not match is unmatched.
    #[error("rows_unmatched is {rows_unmatched}, but {left} of rows_compared are not matched")]
    Unmatched {
        /// What the payload says.
        rows_unmatched: u64,
        /// The rest of the groups.
        left: u64,
    },
    /// A verdict that the numbers do not bear out.
    #[error("result is MATCHED, but a group is left over, a tolerance did not pass or there is a finding")]
    Verdict,
    /// More groups than can be counted.
    #[error("the groups add up to more than 64 bits hold")]
    Overflow,
}

impl Completed {
    /// Holds the numbers against each other.
    pub fn check(&self) -> Result<(), Contradiction> {
        self.check_groups()?;
        self.check_measures()?;
        let left = self.rows_compared.checked_sub(self.rows_matched);
        match left {
            Some(left) if left == self.rows_unmatched => self.check_verdict(),
            _ => Err(Contradiction::Unmatched {
                rows_unmatched: self.rows_unmatched,
                left: left.unwrap_or_default(),
            }),
        }
    }

    /// With two sources the groups add up; with more, one may be left over in several, but never in all.
    fn check_groups(&self) -> Result<(), Contradiction> {
        let JoinStats { matched_groups, unmatched_by_source } = &self.join_stats;
        let rows_compared = self.rows_compared;
        let most = sum(unmatched_by_source.values().chain([matched_groups]))?;
        // A producer may leave out sources that have nothing left over.
        let sources = self.source_row_counts.len().max(unmatched_by_source.len()) as u64;
        if sources <= 2 {
            let holds = rows_compared == most;
            return if holds { Ok(()) } else { Err(Contradiction::Compared { rows_compared, groups: most }) };
        }
        let left_over = most - matched_groups;
        let widest = unmatched_by_source.values().copied().max().unwrap_or_default();
        let least = matched_groups + widest.max(left_over.div_ceil(sources - 1));
        let holds = (least..=most).contains(&rows_compared);
        if holds { Ok(()) } else { Err(Contradiction::Distinct { rows_compared, least, most }) }
    }

    fn check_measures(&self) -> Result<(), Contradiction> {
        let matched_groups = self.join_stats.matched_groups;
        for tolerance in &self.tolerances {
            let judged = sum([&tolerance.within_tolerance_count, &tolerance.outside_tolerance_count])?;
            if judged != matched_groups {
                let measure = tolerance.measure_name.clone();
                return Err(Contradiction::Judged { measure, judged, matched_groups });
            }
        }
        let outside = || self.tolerances.iter().map(|tolerance| &tolerance.outside_tolerance_count);
        let most = matched_groups - outside().max().copied().unwrap_or_default();
        let least = matched_groups.saturating_sub(sum(outside())?);
        let rows_matched = self.rows_matched;
        let holds = (least..=most).contains(&rows_matched);
        if holds { Ok(()) } else { Err(Contradiction::Matched { rows_matched, least, most }) }
    }

    /// `MATCHED` only when no group is left over, every tolerance passed and there is no finding.
    ///
    /// The other way round is no contradiction: a stage before the last may not match, and the numbers are those of the last.
    fn check_verdict(&self) -> Result<(), Contradiction> {
        let joined = self.rows_compared == self.join_stats.matched_groups;
        let passed = self.tolerances.iter().all(|tolerance| tolerance.passed);
        let holds = self.result == Verdict::Unmatched || (joined && passed && self.findings.is_empty());
        if holds { Ok(()) } else { Err(Contradiction::Verdict) }
    }
}

fn sum<'a>(counts: impl IntoIterator<Item = &'a u64>) -> Result<u64, Contradiction> {
    counts.into_iter().try_fold(0_u64, |sum, count| sum.checked_add(*count)).ok_or(Contradiction::Overflow)
}
