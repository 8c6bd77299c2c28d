//! What a run measures: quantities with an identity and a direction.

use crate::adapter::OURS;

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trend {
    /// Times.
    Lower,
    /// Rates.
    Higher,
}

impl Trend {
    /// The word for it in the JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Lower => "lower-is-better",
            Self::Higher => "higher-is-better",
        }
    }
}

/// One quantity of a group: `experiment/CASE/implementation/CONFIG`.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Second part of the identity, such as `spawn-rate`.
    pub(crate) case: String,
    /// Fourth part of the identity, such as `w2`.
    pub(crate) config: String,
    /// For people: `spawns over time/2 workers`. See [`Figure::name_for`].
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) trend: Trend,
    /// One line: what is counted, over what.
    pub(crate) description: String,
}

impl Figure {
    /// The display name for `implementation`.
    ///
    /// The default implementation carries the name itself. The others get the case's words and
    /// their own, so that a query by the published wording finds one figure a configuration.
    pub(crate) fn name_for(&self, implementation: &str) -> String {
        if implementation == OURS {
            return self.name.clone();
        }
        let config = self.name.split_once('/').map_or(self.config.as_str(), |(_, tail)| tail);
        format!("{} of {implementation}/{config}", self.case.replace('-', " "))
    }
}
