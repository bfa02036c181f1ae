import { type ClientRequest, request } from 'node:http';
import type { Service } from '../support/service.ts';

/** A request whose body stops before its end. */
export interface Unfinished {
  readonly sent: ClientRequest;
  /** 0 until it is answered. */
  status: number;
}

/** The part of a body that is sent, and its announced length. */
export interface Part {
  readonly path: string;
  readonly length: number;
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
}

/** Sends the beginning of a body and stops. */
export function stopAfter(service: Service, { path, length, body, headers = {} }: Part): Unfinished {
  const sent = request(service.url + path, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
  });
  const state: Unfinished = { sent, status: 0 };
  sent.on('error', () => {});
  sent.on('response', (answer) => {
    state.status = answer.statusCode ?? 0;
    answer.resume();
  });
  sent.write(body);
  return state;
}
