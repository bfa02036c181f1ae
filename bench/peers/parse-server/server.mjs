// @ts-nocheck Its packages are installed where it runs.
import express from 'express';
import { ParseServer } from 'parse-server';

// Started by bench/support/parse-server.ts: node server.mjs <postgres url>. As in its guide, with defaults for everything that affects speed.
const [databaseURI] = process.argv.slice(2);
const app = express();
const server = new ParseServer({
  databaseURI,
  appId: 'bench',
  masterKey: 'bench-master',
  restAPIKey: 'bench-rest',
  serverURL: 'http://127.0.0.1:1/parse',
  allowClientClassCreation: true,
  logLevel: 'error',
  silent: true,
  maxLimit: 100_000,
  directAccess: true,
});
await server.start();
app.use('/platform', server.app);
const listening = app.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${listening.address().port}`));
