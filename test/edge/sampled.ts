/** Suites of the HTTP layer, which has no code of an engine's own. */
import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { Get } from '../support/query.ts';
import { type EngineName, type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

/** Runs the suite on the engine that is drawn for its file, on the service that the suites of this process share. */
export function onSampledEngine(body: (get: Get, engine: EngineName) => void): void {
  for (const engine of sampledEngines())
    describe(engine, () => {
      let service: Service | undefined;
      before(async () => {
        service = await sharedService(engine);
      });
      body(() => {
        assert.ok(service, 'the service did not start');
        return service;
      }, engine);
    });
}
