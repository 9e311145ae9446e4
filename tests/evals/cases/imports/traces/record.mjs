// Records a conversation with the AI SDK, for the tests of its format: ai 6.0.326, @ai-sdk/openai-compatible, zod 4.6.7.
//
//   npm install ai @ai-sdk/openai-compatible zod
//   AI_SDK=record.mjs python3 record.py ai_sdk ai_sdk_chat   // starts vendor.py and runs this script with its address
import { writeFileSync } from "node:fs";
import { convertToModelMessages, generateText, jsonSchema, readUIMessageStream, stepCountIs, streamText, tool } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const [kind, url, folder, system, queries, definitions] = process.argv.slice(2);
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
const stopWhen = stepCountIs(5);
if (kind === "chat") {
  const messages = [];
  for (const query of JSON.parse(queries)) {
    messages.push({ id: `m${messages.length}`, role: "user", parts: [{ type: "text", text: query }] });
    const result = streamText({ model, system, tools, messages: await convertToModelMessages(messages), stopWhen });
    let last;
    for await (const message of readUIMessageStream({ stream: result.toUIMessageStream() })) last = message;
    messages.push(last);
  }
  writeFileSync(`${folder}/ai_sdk_chat.json`, JSON.stringify({ id: "chat-1", messages }, null, 1) + "\n");
} else {
  const messages = [];
  for (const query of JSON.parse(queries)) {
    messages.push({ role: "user", content: query });
    const result = await generateText({ model, system, tools, messages, stopWhen });
    messages.push(...result.response.messages);
  }
  writeFileSync(`${folder}/ai_sdk_messages.json`, JSON.stringify(messages, null, 1) + "\n");
}
