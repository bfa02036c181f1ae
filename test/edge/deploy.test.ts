/** The files by which the service is installed agree with the program. Reference: docs/guide/install.md. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fastify } from 'fastify';
import { parse } from 'yaml';
import { parseSettings } from '../../src/config/config.ts';
import { settingNames } from '../../src/config/settings.ts';
import { Readiness } from '../../src/http/plugins/readiness.ts';
import { registerHealth } from '../../src/http/plugins/service-info.ts';

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const yaml = (path: string) => parse(text(path));
const kubernetes = (path: string) => yaml(`deploy/kubernetes/${path}`);

const { version, devDependencies } = JSON.parse(text('package.json'));
const dockerfile = text('Dockerfile');
const unit = text('deploy/systemd/record-service.service');
const compose = yaml('deploy/compose.yaml');
const workloads = ['deployment.yaml', 'embedded/stateful-set.yaml'].map((path) => [path, kubernetes(path).spec.template.spec]);
const kustomizations = ['kustomization.yaml', 'embedded/kustomization.yaml'].map((path) => [path, kubernetes(path)]);

/** Longest time that requests under way are given, in seconds. Reference: operations.md#start-and-stop. */
const DRAIN_SECONDS = 30;

/** Variables that are not settings of the service. */
const foreign = /^(NODE_ENV|NODE_COMPILE_CACHE|AWS_[A-Z_]+)$/;

/** `NAME=value` of an environment file; names of lines in comments too. */
function variables(file: string): Record<string, string> {
  const found = file.matchAll(/^#?([A-Z][A-Z0-9_]+)=(.*)$/gm);
  return Object.fromEntries([...found].map(([, name, value]) => [name, value?.replace(/^"(.*)"$/, '$1')]));
}

/** Of the image itself, which the last stage makes. */
const dockerVariables = Object.fromEntries(
  [...dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')).matchAll(/^(?:ENV| {3}) ([A-Z_]+)=(\S+)/gm)].map(([, name, value]) => [
    name,
    value,
  ]),
);
const composeVariables = Object.fromEntries(
  Object.entries(compose.services.service.environment as Record<string, string>).map(([name, value]) => [
    name,
    value.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)\}/g, (_, otherwise) => otherwise ?? 'secret'),
  ]),
);

const environments: readonly (readonly [string, Record<string, string>])[] = [
  ['Dockerfile', dockerVariables],
  ['compose.yaml', composeVariables],
  [
    'record-service.service',
    Object.fromEntries([...unit.matchAll(/^Environment=([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value])),
  ],
  ['record-service.env.example', variables(text('deploy/systemd/record-service.env.example'))],
  ['secret.env.example', variables(text('deploy/kubernetes/secret.env.example'))],
  ...kustomizations.map(
    ([path, { configMapGenerator }]) => [path, variables(configMapGenerator[0].literals.join('\n'))] as const,
  ),
];

describe('settings', () => {
  for (const [name, found] of environments)
    test(`${name}: names are settings, values are good ones`, () => {
      const names = Object.keys(found);
      assert.ok(names.length > 1, 'nothing was read');
      assert.deepEqual(
        names.filter((one) => !settingNames.has(one) && !foreign.test(one)),
        [],
      );
      const values = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
      if (values.WEB_CONCURRENCY) values.DATABASE_URL ??= 'postgres://records:secret@127.0.0.1/records';
      parseSettings(values, '/');
    });
});

describe('versions', () => {
  const claims: readonly (readonly [string, unknown])[] = [
    ...['console', 'client'].map((folder) => [folder, JSON.parse(text(`${folder}/package.json`)).version] as const),
    ['package-lock.json', JSON.parse(text('package-lock.json')).version],
    ['label of the image', /image\.version="([^"]+)"/.exec(dockerfile)?.[1]],
    ['compose.yaml', compose.services.service.image.split(':')[1]],
    ...kustomizations.flatMap(([path, { images, labels }]) => [
      [path, images[0].newTag] as const,
      [`label of ${path}`, labels[0].pairs['app.kubernetes.io/version']] as const,
    ]),
    ['newest release of CHANGELOG.md', /^## \[(\d[^\]]*)\]/m.exec(text('CHANGELOG.md'))?.[1]],
  ];
  for (const [name, claimed] of claims) test(`${name} names the version of the package`, () => assert.equal(claimed, version));

  test('the image has the Node that the tests run on', () => {
    const images = [...dockerfile.matchAll(/node:([\d.]+)-bookworm-slim/g)].map(([, found]) => found);
    assert.ok(images.length > 0);
    assert.deepEqual(new Set(images), new Set([devDependencies.node]));
  });
});

describe('the service in a container', () => {
  const port = Number(dockerVariables.PORT);

  test('health checks ask for addresses that answer', async () => {
    const paths = [
      ...dockerfile.matchAll(/(\/health\/\w+)/g).map(([path]) => path),
      ...workloads.flatMap(([, { containers }]) =>
        ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => containers[0][probe].httpGet.path),
      ),
    ];
    assert.equal(paths.length, 1 + 3 * workloads.length);
    const server = fastify();
    registerHealth(server, () => false, new Readiness(async () => ({ nodes: 0, systems: 0 })));
    for (const path of new Set(paths)) assert.equal((await server.inject(path)).statusCode, 200, path);
    await server.close();
  });

  test('ports are those that the image listens on', () => {
    assert.match(dockerfile, new RegExp(`^EXPOSE ${port}$`, 'm'));
    for (const published of compose.services.service.ports) assert.equal(published.split(':').at(-1), String(port));
    const metrics = kustomizations.map(([, { configMapGenerator }]) =>
      Number(variables(configMapGenerator[0].literals.join('\n')).METRICS_PORT),
    );
    workloads.forEach(([, { containers }], index) => {
      assert.deepEqual(containers[0].ports, [
        { name: 'http', containerPort: port },
        { name: 'metrics', containerPort: metrics[index] },
      ]);
    });
    for (const path of ['service.yaml', 'embedded/service.yaml']) assert.equal(kubernetes(path).spec.ports[0].targetPort, 'http');
    const [rule] = kubernetes('ingress.yaml').spec.rules;
    assert.equal(rule.http.paths[0].backend.service.port.name, kubernetes('service.yaml').spec.ports[0].name);
  });

  test('what the service writes to is a volume, and nothing else is writable', () => {
    const { service: composed } = compose.services;
    assert.equal(composed.read_only, true);
    assert.ok(composed.volumes.some((volume: string) => volume.endsWith(`:${dockerVariables.DATA_DIR}`)));
    for (const [, { containers }] of workloads) {
      assert.equal(containers[0].securityContext.readOnlyRootFilesystem, true);
      const mounts = containers[0].volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
      assert.deepEqual(mounts, [dockerVariables.DATA_DIR, '/tmp']);
    }
  });

  test('requests under way have their time when it is stopped', () => {
    const graces = [
      Number.parseInt(compose.services.service.stop_grace_period, 10),
      Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]),
      ...workloads.map(
        ([, spec]) => spec.terminationGracePeriodSeconds - Number(spec.containers[0].lifecycle.preStop.exec.command[1]),
      ),
    ];
    for (const grace of graces) assert.ok(grace > DRAIN_SECONDS, String(grace));
  });

  test('it runs as the same user everywhere, without privileges', () => {
    const user = Number(/^USER (\d+):\1$/m.exec(dockerfile)?.[1]);
    for (const [, { securityContext, containers }] of workloads) {
      assert.deepEqual([securityContext.runAsUser, securityContext.runAsGroup, securityContext.fsGroup], [user, user, user]);
      assert.deepEqual(containers[0].securityContext.capabilities, { drop: ['ALL'] });
    }
    assert.deepEqual(compose.services.service.cap_drop, ['ALL']);
  });
});

test('the unit logs to the journal, and keeps the keys of a first start out of it', () => {
  assert.match(unit, /^StandardOutput=null$/m);
  // By default it would be that of StandardOutput.
  assert.match(unit, /^StandardError=journal$/m);
});

test('each file of a kustomization is there, and each file is in one', () => {
  for (const [path, { resources }] of kustomizations) {
    const folder = `deploy/kubernetes/${path.slice(0, -'kustomization.yaml'.length)}`;
    const files = globSync(`${folder}*.yaml`, { cwd: new URL('../..', import.meta.url) }).map((file) => file.split('/').at(-1));
    assert.deepEqual([...resources, 'kustomization.yaml'].sort(), files.sort());
  }
});
