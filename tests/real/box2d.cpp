// SPDX-License-Identifier: GPL-2.0
// box2d STEPS: let balls and boxes fall on a pyramid, on rough ground and in a drum.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "box2d/box2d.h"

static b2Body *add(b2World &world, b2BodyType type, float x, float y, const b2Shape &shape)
{
	b2BodyDef def;

	def.type = type;
	def.position.Set(x, y);
	b2Body *body = world.CreateBody(&def);

	body->CreateFixture(&shape, 1.0f);
	return body;
}

static void add_ground(b2World &world)
{
	std::vector<b2Vec2> points;
	b2ChainShape ground;

	for (int i = 0; i <= 100; i++)
		points.emplace_back(i - 50.0f, std::fabs(i - 50.0f) / 5 - 10 + i % 3 * 0.1f);
	ground.CreateChain(points.data(), points.size(), b2Vec2(-51, 0), b2Vec2(51, 0));
	add(world, b2_staticBody, 0, 0, ground);
}

// Four walls that turn around their middle.
static void add_drum(b2World &world, float x, float y)
{
	b2PolygonShape wall;
	b2RevoluteJointDef joint;

	wall.SetAsBox(0.3f, 6, b2Vec2(6, 0), 0);
	b2Body *drum = add(world, b2_dynamicBody, x, y, wall);

	for (int i = 1; i < 4; i++) {
		float angle = i * b2_pi / 2;

		wall.SetAsBox(0.3f, 6, b2Vec2(6 * std::cos(angle), 6 * std::sin(angle)), angle);
		drum->CreateFixture(&wall, 1.0f);
	}
	joint.Initialize(add(world, b2_staticBody, x, y, wall), drum, b2Vec2(x, y));
	joint.enableMotor = true;
	joint.motorSpeed = 2;
	joint.maxMotorTorque = 1e6;
	world.CreateJoint(&joint);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? std::atoi(argv[1]) : 60;
	b2World world(b2Vec2(0, -10));
	b2PolygonShape box;
	b2CircleShape ball;
	float sum = 0;

	add_ground(world);
	add_drum(world, 25, 20);
	box.SetAsBox(0.4f, 0.4f);
	ball.m_radius = 0.3f;
	for (int row = 0; row < 10; row++)
		for (int i = 0; i < 10 - row; i++)
			add(world, b2_dynamicBody, -4.5f + i + row * 0.5f, -8 + row * 0.9f, box);
	for (int i = 0; i < 60; i++) {
		add(world, b2_dynamicBody, -20.0f + i % 10 * 0.7f, i / 10 * 0.8f, ball);
		add(world, b2_dynamicBody, 22.0f + i % 8 * 0.8f, 17 + i / 8 * 0.8f, box);
	}
	for (int i = 0; i < steps; i++)
		world.Step(1 / 60.0f, 8, 3);
	for (const b2Body *body = world.GetBodyList(); body; body = body->GetNext())
		sum += body->GetPosition().y;
	std::printf("%d bodies, %d contacts, height %.2f\n", world.GetBodyCount(),
		    world.GetContactCount(), sum / world.GetBodyCount());
	return 0;
}
