/**
 * Peer of the service: the same routes in bare Fastify over one hand-written SQLite table, without keys, schema, permissions or checks. Arguments:
 * the
 * database file. Prints `listening on <url>` when it is ready.
 */
import Fastify from 'fastify';
import { BareStore } from './bare-store.ts';

interface Item {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

const store = new BareStore(process.argv[2] ?? ':memory:');
const app = Fastify({ logger: false, bodyLimit: 20_000_000 });
const classes = '/platform/classes/Bench';

app.get<{ Params: { id: string } }>(`${classes}/:id`, (request, reply) => {
  const record = store.read(request.params.id);
  return record ?? reply.code(404).send({ code: 101, error: 'Object not found.' });
});

app.get<{ Querystring: { where: string; limit: string; count?: string } }>(classes, (request) => {
  const where = JSON.parse(request.query.where);
  if (request.query.count) return { results: [], count: store.count(where.City) };
  return { results: store.page(where.Amount.$gte, Number(request.query.limit)) };
});

app.post<{ Body: Item['body'] }>(classes, (request, reply) => {
  reply.code(201);
  return store.commit(() => store.create(request.body));
});

app.put<{ Params: { id: string }; Body: Item['body'] }>(`${classes}/:id`, (request) =>
  store.commit(() => store.update(request.params.id, request.body)),
);

app.post<{ Body: { requests: Item[] } }>('/platform/batch', (request) =>
  store.commit(() =>
    request.body.requests.map(({ method, path, body }) => ({
      success: method === 'POST' ? store.create(body) : store.update(path.slice(classes.length + 1), body),
    })),
  ),
);

const url = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on ${url}`);
