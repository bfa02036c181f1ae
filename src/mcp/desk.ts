import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerRequest, type Desk } from './answer.ts';
import { Catalogue } from './catalogue.ts';
import type { Tool } from './definition/tool.ts';
import type { McpParts } from './parts.ts';
import { loadTools } from './tools/index.ts';
import { McpProtocol } from './transport/protocol.ts';

/** Answers one request; throws what `failureOf` makes an answer of. */
export type Answerer = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Makes what requests are answered with, once. @param tools all that the service has where it is left out */
export async function openDesk(parts: McpParts, tools?: readonly Tool[]): Promise<Answerer> {
  const catalogue = new Catalogue(tools ?? (await loadTools()));
  const desk: Desk = { parts, catalogue, protocol: new McpProtocol(parts.log) };
  return (request, reply) => answerRequest(desk, request, reply);
}
