import type { FastifyRequest } from 'fastify';
import type { Sender } from '../admission/place.ts';
import { networkOf } from '../kernel/network.ts';
import type { Edge } from './edge.ts';

/** Whose a body is, as far as it shows before the body: the system that a header or the path names, and the network that it comes from. */
export function senderOf(systems: Pick<Edge['systems'], 'isKnown'>, request: FastifyRequest): Sender {
  const named = request.headers['x-platform-application-id'] || (request.params as { readonly appId?: string } | null)?.appId;
  const isNamed = typeof named === 'string' && systems.isKnown(named);
  return { system: isNamed ? named : '', caller: networkOf(request.ip ?? '') };
}
