/** Suites that do not depend on the engine. */
import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { Get } from '../support/query.ts';
import { type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

/** As `onEachEngine` (support/query.ts), on one engine, which follows from the name of the test file. */
export function onSampledEngine(body: (get: Get) => void): void {
  for (const engine of sampledEngines())
    describe(engine, () => {
      let service: Service | undefined;
      before(async () => {
        service = await sharedService(engine);
      });
      body(() => {
        assert.ok(service, 'the service did not start');
        return service;
      });
    });
}
