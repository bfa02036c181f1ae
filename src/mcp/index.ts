export { AgentTools } from './agent-tools.ts';
export type { BearerVerdict } from './modes/bearer.ts';
export type { McpParts } from './parts.ts';
