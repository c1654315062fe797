// SPDX-License-Identifier: Apache-2.0
// A chart with several forms of the same data; its state chooses one.

// `forms(state)`: the key of the shown form, of `all`: {key: chart}.
export function either(common, all, form) {
  const of = (state) => all[form(state)];
  return {
    ...common,
    along: (state) => of(state).along,
    ramp: (state) => of(state).ramp?.(state),
    height: (width, state) => of(state).height(width, state),
    legend: (state) => of(state).legend?.(state) || [],
    option: (context, state) => of(state).option(context, state),
    tip: (state, ...at) => of(state).tip(state, ...at),
    stops: (state, zoom) => of(state).stops(state, zoom),
    table: (state) => of(state).table(state),
  };
}
