/** A service that reaches its database through a proxy that the test can break. */
import { after, before } from 'node:test';
import { TestProxy } from '../../src/storage/postgres/testing/proxy.ts';
import { query } from '../../src/storage/postgres/testing/server.ts';
import { makeData, type OwnData } from '../support/data.ts';
import type { ProcessOptions } from '../support/service-process.ts';
import { startWorld, type World } from './world.ts';

export interface Lined {
  readonly world: World;
  readonly proxy: TestProxy;
  /** URL of the database, without the proxy. */
  readonly adminUrl: string;
  /** Runs SQL on a new connection without the proxy. */
  sql(text: string): Promise<any[]>;
}

/** Starts a world for the surrounding `describe`. */
export function useLine(options: ProcessOptions = {}): Lined {
  let data: OwnData;
  let proxy: TestProxy;
  let world: World;
  before(async () => {
    data = await makeData('postgres');
    proxy = await TestProxy.before(urlOf(data));
    world = await startWorld({ engine: 'postgres', dataDir: data.dataDir, database: proxy, ...options });
  });
  after(async () => {
    try {
      await world?.close();
    } finally {
      proxy?.close();
      await data?.remove();
    }
  });
  return {
    get world() {
      return world;
    },
    get proxy() {
      return proxy;
    },
    get adminUrl() {
      return urlOf(data);
    },
    sql: (text) => query(urlOf(data), text),
  };
}

const urlOf = ({ database }: OwnData): string => database?.url ?? '';
