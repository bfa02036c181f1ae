export { AgentTools } from './agent-tools.ts';
export type { McpServices } from './services.ts';
