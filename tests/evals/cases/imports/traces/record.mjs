// Records a conversation with the AI SDK, for the tests of its format: ai 6.0.326, @ai-sdk/openai-compatible, zod 4.6.7.
//
//   npm install ai @ai-sdk/openai-compatible zod
//   python3 record.py ai_sdk      // starts vendor.py and runs this script with its address
import { writeFileSync } from "node:fs";
import { convertToModelMessages, generateText, jsonSchema, readUIMessageStream, stepCountIs, streamText, tool } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const [url, folder, system, queries, definitions] = process.argv.slice(2);
const model = createOpenAICompatible({ name: "vendor", baseURL: `${url}/v1`, apiKey: "test" })("gpt-6-luna");
const tools = Object.fromEntries(
  JSON.parse(definitions).map(({ name, description, parameters }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: async ({ number }) => {
        if (number === 21) throw new Error("there is no order 21");
        return { text: `${name}: order ${number} is fine` };
      },
    }),
  ]),
);
const messages = [];
for (const query of JSON.parse(queries)) {
  messages.push({ role: "user", content: query });
  const result = await generateText({ model, system, tools, messages, stopWhen: stepCountIs(5) });
  messages.push(...result.response.messages);
}
writeFileSync(`${folder}/ai_sdk_messages.json`, JSON.stringify(messages, null, 1) + "\n");
