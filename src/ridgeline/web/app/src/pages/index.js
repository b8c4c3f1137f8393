// Every page of the app: a study function has a route, a route has a view.
export const PAGES = [
  { id: 'estimate', title: 'Estimate', load: () => import('./estimate.js') },
  { id: 'racks', title: 'Racks', load: () => import('./racks.js') },
  { id: 'pipeline', title: 'Pipeline', load: () => import('./pipeline.js') },
  { id: 'plan', title: 'Plan', load: () => import('./plan.js') },
  { id: 'prices', title: 'Prices', load: () => import('./prices.js') },
  { id: 'cache', title: 'Cache', load: () => import('./cache.js') },
  { id: 'lecture', title: 'Lecture', load: () => import('./lecture.js') },
  { id: 'validation', title: 'Validation', load: () => import('./validation.js') },
]
