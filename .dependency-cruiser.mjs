/**
 * The layer rule: a layer of src imports from itself and from the layers listed before it, from nothing else.
 *
 * Exceptions:
 * - Unit tests (`*.test.ts`) stand outside the layers, since they have to construct an engine; no source imports them.
 * - A worker entry inside `storage/sqlite` is loaded by URL, not imported. It runs on a thread of its own and constructs its
 *   adapter itself, as `app.ts` does for the main thread; the layer rule holds for it as for the rest of its folder.
 */

/** Lowest first. Layers of one line do not import each other, but for the services, which meet in their index.ts. */
const layers = [
  ['kernel'],
  ['config'],
  ['errors'],
  ['observe', 's3'],
  ['admission'],
  ['schema'],
  ['values'],
  ['access'],
  ['query'],
  ['storage'],
  ['storage/sql'],
  ['storage/sqlite', 'storage/postgres'],
  ['acts'],
  ['systems'],
  ['records'],
  ['idempotency', 'users', 'automation', 'audit', 'files', 'functions', 'mail', 'transfer'],
  ['requests', 'crm'],
  ['openapi'],
  ['http', 'mcp', 'oauth', 'console', 'cli'],
  ['index.ts'],
  ['stores.ts'],
  ['command-context.ts'],
  ['backup-schedule.ts', 'metrics'],
  ['app.ts', 'move.ts', 'processes', 'checks', 'lifecycle-log.ts', 'faults.ts', 'v8-tuning.ts', 'background.ts'],
  ['run.ts'],
  ['main.ts'],
];

const severity = /** @type {const} */ ('error');
const UNIT_TEST = '[.]test[.]ts$';
/** What unit tests share. It keeps the layers, and no source imports it. */
const FIXTURE = '/testing/';

/** Only stores.ts may construct an engine; everyone else knows the port. */
const engines = ['storage/sql', 'storage/sqlite', 'storage/postgres'];

/** Services of one level. */
const services = layers.find((layer) => layer.includes('users')) ?? [];
/** The layers that meet the services through their index.ts alone. */
const byEntrance = [...services, 'crm', 'openapi', 'mcp', 'oauth', 'console'];

/**
 * The files of one layer: the port is the files directly in storage and what its unit tests share.
 *
 * @param {string} layer
 */
function pattern(layer) {
  if (layer === 'storage') return '^src/storage/(?:[^/]+$|testing/)';
  return layer.endsWith('.ts') ? `^src/${layer.replace('.', '[.]')}$` : `^src/${layer}/`;
}

/**
 * What a layer may import inside src.
 *
 * @param {string} layer
 * @param {number} level its place in the list
 */
function allowed(layer, level) {
  const wires = ['stores.ts', 'command-context.ts', 'backup-schedule.ts', 'app.ts', 'move.ts', 'run.ts'].includes(layer);
  const below = layers.slice(0, level).flat();
  const readable = wires || layer.startsWith('storage/') ? below : below.filter((name) => !engines.includes(name));
  const meets = byEntrance.includes(layer);
  const inside = meets ? readable.filter((name) => !services.includes(name)) : readable;
  const entrances = meets ? [`^src/(?:${services.join('|')})/index[.]ts$`] : [];
  return [pattern(layer), ...inside.map(pattern), ...entrances];
}

const layerRules = layers.flatMap((names, level) =>
  names.map((layer) => ({
    name: `layer-${layer}`,
    comment: `${layer} imports from itself and the layers below it only.`,
    severity,
    from: { path: pattern(layer), pathNot: UNIT_TEST },
    to: { path: '^src/', pathNot: allowed(layer, level) },
  })),
);

/**
 * A package that only some folders may import.
 *
 * @param {string} name the rule's
 * @param {string} packages a pattern
 * @param {string[]} folders
 */
function onlyIn(name, packages, folders) {
  return {
    name,
    severity,
    from: { path: '^src/', pathNot: [`^src/(?:${folders.join('|')})/`, UNIT_TEST] },
    to: { path: packages },
  };
}

/** The path patterns of the known layers, so that a new folder has to be given its place. */
export const layerPatterns = layers.flat().map(pattern);

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    onlyIn('sqlite-driver', '^(?:node:)?sqlite$', ['storage/sqlite']),
    onlyIn('postgres-driver', '(?:^|/)node_modules/(?:pg|postgres)/|^(?:pg|postgres)$', [
      'storage/postgres',
      // Another service's tables, which are no store of ours.
      'transfer/parse/source',
    ]),
    onlyIn('mongodb-driver', '(?:^|/)node_modules/mongodb/|^mongodb$', ['transfer/parse/source']),
    onlyIn('s3-client', '(?:^|/)node_modules/@aws-sdk/|^@aws-sdk/', ['s3', 'files/stores', 'transfer/backup/destinations']),
    onlyIn('prometheus-client', '(?:^|/)node_modules/prom-client/|^prom-client$', ['observe/metrics']),
    onlyIn('http-framework', '(?:^|/)node_modules/(?:fastify|@fastify/[^/]+)/|^(?:fastify$|@fastify/)', [
      'http',
      'mcp',
      'oauth',
      'console',
    ]),
    {
      name: 'no-tests-in-sources',
      severity,
      from: { path: '^src/', pathNot: [UNIT_TEST, FIXTURE] },
      to: { path: [UNIT_TEST, FIXTURE] },
    },
    {
      name: 'sources-stand-alone',
      comment: 'src never imports the tests, the benchmarks or the tooling.',
      severity,
      from: { path: '^src/' },
      to: { path: '^(?:test|bench|scripts|bin|console|client)/' },
    },
    {
      name: 'no-development-packages',
      severity,
      from: { path: '^src/', pathNot: [UNIT_TEST, FIXTURE] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-unresolvable', severity, from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-cycles',
      comment: 'Types may refer to each other; code must not.',
      severity,
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types', 'require'],
    },
  },
};
